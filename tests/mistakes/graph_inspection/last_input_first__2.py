"""The same stack, for the leaves."""

def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, stack = {}, [root.grad_fn]
    while stack:
        node = stack.pop()
        if type(node).__name__ == "AccumulateGrad":
            leaves[id(node.variable)] = node.variable
        for following, _ in node.next_functions:
            if following:
                stack.append(following)
    return list(leaves.values())
