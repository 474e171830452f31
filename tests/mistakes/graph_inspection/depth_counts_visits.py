"""The depth is counted up once for each input."""

def walk(root):
    entries = []

    def visit(node, depth):
        if node is None:
            return
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            depth += 1
            visit(following, depth)

    visit(root.grad_fn, 0)
    return entries
