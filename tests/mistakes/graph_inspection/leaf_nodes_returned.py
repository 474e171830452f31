"""The nodes of the leaves."""

def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = []

    def visit(node):
        if node is None:
            return
        if type(node).__name__ == "AccumulateGrad" and node not in leaves:
            leaves.append(node)
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return leaves
