"""The walk begins without looking whether there is a node."""

def walk(root):
    entries = []

    def visit(node, depth):
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            if following is not None:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries
