"""inputs_of goes straight to grad_fn."""

def inputs_of(root):
    return [(type(node).__name__ if node is not None else None, index) for node, index in root.grad_fn.next_functions]
