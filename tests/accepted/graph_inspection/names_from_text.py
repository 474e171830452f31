"""Names cut out of what C++ calls a node, and out of the node's text."""


def walk(root):
    def visit(node, depth):
        yield depth, node.name().split("::")[-1]
        for following, _ in node.next_functions:
            if following is not None:
                yield from visit(following, depth + 1)

    return list(visit(root.grad_fn, 0)) if root.grad_fn else []


def inputs_of(root):
    def name(node):
        return node if node is None else str(node).split(" object at ")[0].lstrip("<").split(".")[-1]

    if root.grad_fn is None:
        return []
    return [(name(node), index) for node, index in root.grad_fn.next_functions]
