"""Turns the tuple of edges round as if it were a list."""


def walk(root):
    if root.grad_fn is None:
        return []
    out, stack = [], [(0, root.grad_fn)]
    while stack:
        d, n = stack.pop()
        out.append((d, type(n).__name__))
        nf = n.next_functions
        nf.reverse()
        for f, _ in nf:
            if f is not None:
                stack.append((d + 1, f))
    return out
