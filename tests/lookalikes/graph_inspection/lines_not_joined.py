"""The pairs of walk come back, not lines."""


def format_graph(root):
    return walk(root)
