"""The tensor is asked for what its node has."""

def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(type(node).__name__ if node else None, index) for node, index in root.next_functions]
