"""Leaves are collected level by level."""

def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, level = {}, [root.grad_fn]
    while level:
        below = []
        for node in level:
            if hasattr(node, "variable"):
                leaves.setdefault(id(node.variable), node.variable)
            below += [following for following, _ in node.next_functions if following is not None]
        level = below
    return list(leaves.values())
