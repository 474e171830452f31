"""node.name() among the inputs."""

def inputs_of(root):
    if root.grad_fn is None:
        return []
    edges = []
    for node, index in root.grad_fn.next_functions:
        edges.append((node.name() if node else None, index))
    return edges
