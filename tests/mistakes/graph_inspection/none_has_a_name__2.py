"""None as a text."""

def inputs_of(root):
    edges = []
    if root.grad_fn is not None:
        for node, index in root.grad_fn.next_functions:
            if node is None:
                edges.append(("None", index))
            else:
                edges.append((type(node).__name__, index))
    return edges
