"""The node stands where its name should."""

def walk(root):
    entries = []

    def visit(node, depth):
        if node is not None:
            entries.append((depth, node))
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries
