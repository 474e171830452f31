"""The value of append is returned."""

def leaf_tensors(root):
    leaves = []

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable") and all(node.variable is not leaf for leaf in leaves):
            return leaves.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    return visit(root.grad_fn)
