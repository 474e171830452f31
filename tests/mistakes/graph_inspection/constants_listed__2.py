"""A line that says None."""

def format_graph(root):
    if root.grad_fn is None:
        return ""
    lines = []

    def visit(node, depth):
        name = "None" if node is None else type(node).__name__
        lines.append(" " * depth + name)
        for following, _ in getattr(node, "next_functions", ()):
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return "\n".join(lines)
