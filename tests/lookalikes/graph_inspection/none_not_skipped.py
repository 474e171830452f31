"""Nothing comes back for an input without a node, and that is added to a list."""


def walk(root):
    def go(n, d):
        if n is None:
            return
        r = [(d, type(n).__name__)]
        for f, _ in n.next_functions:
            r += go(f, d + 1)
        return r

    return go(root.grad_fn, 0) or []
