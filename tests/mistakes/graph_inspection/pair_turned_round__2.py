"""Name first."""

def walk(root):
    if root.grad_fn is None:
        return []

    def visit(node, depth):
        found = [(type(node).__name__, depth)]
        for following, _ in node.next_functions:
            if following is not None:
                found += visit(following, depth + 1)
        return found

    return visit(root.grad_fn, 0)
