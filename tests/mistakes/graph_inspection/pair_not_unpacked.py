"""The pairs of next_functions are taken for nodes."""

def walk(root):
    entries = []

    def visit(node, depth):
        entries.append((depth, type(node).__name__))
        for following in node.next_functions:
            if following is not None:
                visit(following, depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 0)
    return entries
