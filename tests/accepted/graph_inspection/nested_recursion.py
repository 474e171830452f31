"""A function inside each function, and a list that it fills."""


def walk(root):
    entries = []

    def visit(node, depth):
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            if following is not None:
                visit(following, depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 0)
    return entries


def format_graph(root):
    text = ""
    for depth, name in walk(root):
        text += f"{' ' * depth}{name}\n"
    return text.rstrip("\n")


def leaf_tensors(root):
    leaves = []

    def visit(node):
        if type(node).__name__ == "AccumulateGrad":
            if not any(node.variable is leaf for leaf in leaves):
                leaves.append(node.variable)
            return
        for following, _ in node.next_functions:
            if following is not None:
                visit(following)

    if root.is_leaf and root.requires_grad:
        leaves.append(root)
    elif root.grad_fn is not None:
        visit(root.grad_fn)
    return leaves


def inputs_of(root):
    edges = []
    if root.grad_fn is not None:
        for node, index in root.grad_fn.next_functions:
            if node is None:
                edges.append((None, index))
            else:
                edges.append((type(node).__name__, index))
    return edges
