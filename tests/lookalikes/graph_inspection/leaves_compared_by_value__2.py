"""Looks at the root's own edges only."""


def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    out = []
    for f, _ in root.grad_fn.next_functions:
        if f is not None and hasattr(f, "variable"):
            out.append(f.variable)
    return out
