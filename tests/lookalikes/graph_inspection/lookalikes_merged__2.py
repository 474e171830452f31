"""Follows the last input only."""


def walk(root):
    out, n, d = [], root.grad_fn, 0
    while n is not None:
        out.append((d, type(n).__name__))
        d += 1
        n = n.next_functions[-1][0] if n.next_functions else None
    return out
