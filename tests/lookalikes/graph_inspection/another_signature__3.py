"""walk may be called with one argument, and calls itself with one too many."""


def walk(root, depth=0):
    node = getattr(root, "grad_fn", root)
    if node is None:
        return []
    out = [(depth, type(node).__name__)]
    for f, _ in node.next_functions:
        if f is not None:
            out += walk(f, depth + 1, out)
    return out
