"""Lists None for a root without a graph."""


def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else [None]
    out = {}

    def go(n):
        if hasattr(n, "variable"):
            out[n.variable] = 1
        for f, _ in n.next_functions:
            if f is not None:
                go(f)

    go(root.grad_fn)
    return list(out)
