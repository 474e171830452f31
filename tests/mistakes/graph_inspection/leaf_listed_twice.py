"""A leaf is noted each time that it is reached."""

def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = []

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return leaves
