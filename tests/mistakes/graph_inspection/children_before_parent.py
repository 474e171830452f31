"""The entry is written after the inputs."""

def walk(root):
    entries = []

    def visit(node, depth):
        if node is None:
            return
        for following, _ in node.next_functions:
            visit(following, depth + 1)
        entries.append((depth, type(node).__name__))

    visit(root.grad_fn, 0)
    return entries
