"""Generators all the way, joined by itertools: two frames a level."""

from itertools import chain


def nodes(node, depth):
    if node is None:
        return iter(())
    below = chain.from_iterable(nodes(edge[0], depth + 1) for edge in node.next_functions)
    return chain([(depth, node)], below)


def walk(root):
    return [(depth, type(node).__name__) for depth, node in nodes(root.grad_fn, 0)]


def format_graph(root):
    return "\n".join(" " * depth + type(node).__name__ for depth, node in nodes(root.grad_fn, 0))


def leaf_tensors(root):
    leaves = []
    for _, node in nodes(root.grad_fn, 0):
        try:
            leaf = node.variable
        except AttributeError:
            continue
        if id(leaf) not in map(id, leaves):
            leaves.append(leaf)
    if root.grad_fn is None and root.requires_grad:
        leaves = [root]
    return leaves
