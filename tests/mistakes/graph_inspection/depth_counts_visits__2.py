"""One depth for the whole walk, which never comes back up."""

def format_graph(root):
    lines, depth = [], 0

    def visit(node):
        nonlocal depth
        if node is None:
            return
        lines.append(" " * depth + type(node).__name__)
        depth += 1
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return "\n".join(lines)
