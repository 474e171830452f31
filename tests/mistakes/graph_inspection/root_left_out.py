"""The walk begins with the root's inputs."""

def walk(root):
    entries = []

    def visit(node, depth):
        for following, _ in node.next_functions:
            if following is not None:
                entries.append((depth, type(following).__name__))
                visit(following, depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 0)
    return entries
