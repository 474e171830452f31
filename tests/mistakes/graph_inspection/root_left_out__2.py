"""The inputs are drawn at their depth, the root is not drawn."""

def format_graph(root):
    lines = []

    def visit(node, depth):
        for following, _ in node.next_functions:
            if following is not None:
                lines.append(" " * depth + type(following).__name__)
                visit(following, depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 1)
    return "\n".join(lines)
