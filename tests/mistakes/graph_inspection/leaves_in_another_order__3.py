def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    nodes, seen = [], set()

    def visit(node):
        if node is None or node in seen:
            return
        seen.add(node)
        for following, _ in reversed(node.next_functions):
            visit(following)
        nodes.append(node)

    visit(root.grad_fn)
    return [node.variable for node in reversed(nodes) if hasattr(node, "variable")]
