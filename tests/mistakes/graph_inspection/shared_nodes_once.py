"""A set of visited nodes, as graph walks usually have one."""

def walk(root):
    entries, seen = [], set()

    def visit(node, depth):
        if node is None or node in seen:
            return
        seen.add(node)
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries
