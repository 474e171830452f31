"""A stack; nodes are marked when they are put on it."""

def format_graph(root):
    if root.grad_fn is None:
        return ""
    lines, stack, marked = [], [(0, root.grad_fn)], {root.grad_fn}
    while stack:
        depth, node = stack.pop()
        lines.append(" " * depth + type(node).__name__)
        for following, _ in node.next_functions[::-1]:
            if following is not None and following not in marked:
                marked.add(following)
                stack.append((depth + 1, following))
    return "\n".join(lines)
