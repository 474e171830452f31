"""A queue."""

from collections import deque


def walk(root):
    queue = deque([(0, root.grad_fn)])
    entries = []
    while queue:
        depth, node = queue.popleft()
        if node is None:
            continue
        entries.append((depth, type(node).__name__))
        queue.extend((depth + 1, following) for following, _ in node.next_functions)
    return entries
