"""Asks for the truth of a leaf, which compares it with nothing."""


def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    out = {}

    def go(n):
        v = getattr(n, "variable", None)
        if v:
            out[id(v)] = v
        for f, _ in n.next_functions:
            if f is not None:
                go(f)

    go(root.grad_fn)
    return list(out.values())
