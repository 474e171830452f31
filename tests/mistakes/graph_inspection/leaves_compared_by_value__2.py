"""torch.equal takes twins for one."""

import torch


def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, stack = [], [root.grad_fn]
    while stack:
        node = stack.pop()
        variable = getattr(node, "variable", None)
        if variable is not None and not any(torch.equal(variable, leaf) for leaf in leaves):
            leaves.append(variable)
        stack += [following for following, _ in reversed(node.next_functions) if following is not None]
    return leaves
