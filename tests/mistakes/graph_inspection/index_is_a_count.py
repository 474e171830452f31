"""The index is taken for the place of the input."""

def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(type(edge[0]).__name__ if edge[0] else None, place) for place, edge in enumerate(root.grad_fn.next_functions)]
