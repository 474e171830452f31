"""A stack that gets the inputs in their order."""

def walk(root):
    entries = []
    stack = [(0, root.grad_fn)]
    while stack:
        depth, node = stack.pop()
        if node is not None:
            entries.append((depth, type(node).__name__))
            stack += [(depth + 1, following) for following, _ in node.next_functions]
    return entries
