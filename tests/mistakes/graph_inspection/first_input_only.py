def walk(root):
    entries, node, depth = [], root.grad_fn, 0
    while node is not None:
        entries.append((depth, type(node).__name__))
        node = node.next_functions[0][0] if node.next_functions else None
        depth += 1
    return entries


def format_graph(root):
    return "\n".join(" " * depth + name for depth, name in walk(root))
