"""The node in an f-string, as print shows it."""

def format_graph(root):
    def lines(node, depth):
        if node is None:
            return []
        return [f"{' ' * depth}{node}"] + [line for following, _ in node.next_functions for line in lines(following, depth + 1)]

    return "\n".join(lines(root.grad_fn, 0))
