"""The first level is called 1."""

def walk(root):
    entries = []

    def visit(node, depth):
        if node is None:
            return
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 1)
    return entries
