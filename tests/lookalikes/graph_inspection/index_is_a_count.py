"""The edges are sorted by their index."""


def inputs_of(root):
    edges = root.grad_fn.next_functions if root.grad_fn else ()
    return sorted([(type(node).__name__ if node else None, index) for node, index in edges], key=lambda edge: edge[1])
