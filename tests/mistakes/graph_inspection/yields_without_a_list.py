"""walk is itself the generator."""

def walk(root):
    stack = [(0, root.grad_fn)] if root.grad_fn is not None else []
    while stack:
        depth, node = stack.pop()
        yield depth, type(node).__name__
        for following, _ in reversed(node.next_functions):
            if following is not None:
                stack.append((depth + 1, following))
