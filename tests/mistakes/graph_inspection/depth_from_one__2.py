"""The depth is counted up before the entry is written."""

def walk(root):
    entries = []

    def visit(node, depth=0):
        depth += 1
        if node:
            entries.append((depth, type(node).__name__))
            for following, _ in node.next_functions:
                visit(following, depth)

    visit(root.grad_fn)
    return entries
