"""Detached, to be on the safe side."""

def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = {}

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            leaves[id(node.variable)] = node.variable.detach()
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return list(leaves.values())
