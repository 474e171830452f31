"""Recursion that returns lists, inside comprehensions: two frames a level."""


def entries_of(node, depth):
    if node is None:
        return []
    below = [entries_of(following, depth + 1) for following, _ in node.next_functions]
    return sum(below, [(depth, type(node).__name__)])


def walk(root):
    return entries_of(root.grad_fn, 0)


def format_graph(root):
    return "\n".join(f"{'':>{depth}}{name}" for depth, name in entries_of(root.grad_fn, 0))


def leaf_tensors(root):
    def below(node):
        if node is None:
            return []
        if not node.next_functions and hasattr(node, "variable"):
            return [node.variable]
        return [leaf for following, _ in node.next_functions for leaf in below(following)]

    if root.grad_fn is None:
        return [root] * root.requires_grad
    return list(dict.fromkeys(below(root.grad_fn)))


def inputs_of(root):
    edges = getattr(root.grad_fn, "next_functions", ())
    return [(type(node).__name__ if node else None, index) for node, index in edges]
