"""A default that is made once."""

def walk(root, entries=[]):  # noqa: B006
    def visit(node, depth):
        if node is None:
            return
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries
