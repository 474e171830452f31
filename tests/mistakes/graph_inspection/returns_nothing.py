"""The graph is printed, as the notes do it, and nothing is returned."""

def format_graph(root):
    def show(node, level=0):
        if node is None:
            return
        print(" " * level + type(node).__name__)
        for following, _ in node.next_functions:
            show(following, level + 1)

    show(root.grad_fn)
