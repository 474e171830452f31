"""Follows only those edges that lead to a first output."""


def format_graph(root):
    def visit(node, depth):
        if node is None:
            return []
        return [" " * depth + type(node).__name__] + [line for after, i in node.next_functions if not i for line in visit(after, depth + 1)]

    return "\n".join(visit(root.grad_fn, 0))
