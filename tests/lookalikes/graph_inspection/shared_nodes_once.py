"""Equal edges of one node are merged, and no node is remembered."""


def walk(root):
    def go(n, d):
        if n is None:
            return []
        r = [(d, type(n).__name__)]
        for f, _ in dict.fromkeys(n.next_functions):
            r += go(f, d + 1)
        return r

    return go(root.grad_fn, 0)
