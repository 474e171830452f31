"""Every edge is followed, whether or not a node is at its end."""

def walk(root):
    if root.grad_fn is None:
        return []
    entries = []

    def visit(node, depth):
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries
