"""Edges without a node are filtered out."""

def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(type(node).__name__, index) for node, index in root.grad_fn.next_functions if node is not None]
