"""Entries with square brackets."""

def walk(root):
    entries = []

    def visit(node, depth):
        if node is not None:
            entries.append([depth, type(node).__name__])
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries
