"""A helper of a longer name is called with an argument too few."""


def _walk(node, depth, out):
    out.append((depth, type(node).__name__))
    for f, _ in node.next_functions:
        if f is not None:
            _walk(f, depth + 1)


def walk(root):
    out = []
    if root.grad_fn is not None:
        _walk(root.grad_fn, 0, out)
    return out
