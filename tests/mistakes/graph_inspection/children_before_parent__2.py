"""A list that grows at its front."""

def format_graph(root):
    lines = []

    def visit(node, depth):
        if node is None:
            return
        lines.insert(0, " " * depth + type(node).__name__)
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return "\n".join(lines)
