"""A node without inputs ends the walk before it is listed."""

def walk(root):
    entries = []

    def visit(node, depth):
        if node is None or not node.next_functions:
            return
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries
