"""Index first."""

def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(index, type(node).__name__ if node else None) for node, index in root.grad_fn.next_functions]
