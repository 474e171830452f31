"""Calls itself with a depth that it doesn't take."""


def walk(root):
    return [(0, type(root.grad_fn).__name__)] + [row for node, _ in root.grad_fn.next_functions for row in walk(node, 1)]
