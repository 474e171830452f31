"""A stack onto which None goes like anything else."""

def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, stack = [], [root.grad_fn]
    while stack:
        node = stack.pop()
        if hasattr(node, "variable"):
            if not any(leaf is node.variable for leaf in leaves):
                leaves.append(node.variable)
        else:
            stack.extend(following for following, _ in reversed(node.next_functions))
    return leaves
