"""The method name stands where its result should."""


def walk(root):
    def go(n, d):
        if n is None:
            return []
        r = [(d, n.name)]
        for f, _ in n.next_functions:
            r += go(f, d + 1)
        return r

    return go(root.grad_fn, 0)
