"""None is listed by the name of its type."""

def walk(root):
    entries = []

    def visit(node, depth):
        entries.append((depth, type(node).__name__))
        if node is not None:
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 0)
    return entries
