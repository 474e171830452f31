"""Lists of the branches are put together."""

def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []

    def below(node):
        if hasattr(node, "variable"):
            return [node.variable]
        return [leaf for following, _ in node.next_functions if following is not None for leaf in below(following)]

    return below(root.grad_fn)
