"""An entry that is there already is not added again."""

def walk(root):
    entries = []

    def visit(node, depth):
        if node is None:
            return
        entry = (depth, type(node).__name__)
        if entry not in entries:
            entries.append(entry)
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries
