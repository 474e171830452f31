"""in compares tensors by their values."""

def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = []

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable") and node.variable not in leaves:
            leaves.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return leaves
