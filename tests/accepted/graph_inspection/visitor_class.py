"""A class that does the walking for all."""

from typing import NamedTuple


class Entry(NamedTuple):
    depth: int
    name: str


class Visitor:
    def __init__(self, root):
        self.root = root
        self.nodes = []
        if root.grad_fn is not None:
            self.visit(root.grad_fn, 0)

    def visit(self, node, depth):
        self.note(node, depth)
        self.go_on(node, depth + 1)

    def note(self, node, depth):
        self.nodes.append((node, depth))

    def go_on(self, node, depth):
        [self.follow(edge, depth) for edge in node.next_functions]

    def follow(self, edge, depth):
        if edge[0] is not None:
            self.visit(edge[0], depth)


def walk(root):
    return [Entry(depth, type(node).__name__) for node, depth in Visitor(root).nodes]


def format_graph(root):
    return "\n".join(" " * entry.depth + entry.name for entry in walk(root))


def leaf_tensors(root):
    found = {id(node.variable): node.variable for node, _ in Visitor(root).nodes if hasattr(node, "variable")}
    if root.grad_fn is None and root.requires_grad:
        return [root]
    return list(found.values())
