"""is_leaf is asked, requires_grad is not."""

def leaf_tensors(root):
    if root.is_leaf:
        return [root]
    leaves = {}

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            leaves[id(node.variable)] = node.variable
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return list(leaves.values())
