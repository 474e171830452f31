"""Each line brings its newline along."""

def format_graph(root):
    def draw(node, depth):
        if node is None:
            return ""
        text = " " * depth + type(node).__name__ + "\n"
        for following, _ in node.next_functions:
            text += draw(following, depth + 1)
        return text

    return draw(root.grad_fn, 0)
