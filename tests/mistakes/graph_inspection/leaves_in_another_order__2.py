"""A later visit moves a leaf to the end."""

def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = []

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            leaves.insert(len(leaves) // 2, node.variable)
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return list({id(leaf): leaf for leaf in leaves}.values())
