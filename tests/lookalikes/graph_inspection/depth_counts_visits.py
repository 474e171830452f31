"""The depth is the deepest that a node was met at so far."""


def walk(root):
    if root.grad_fn is None:
        return []
    found, stack, depths = [], [root.grad_fn], {root.grad_fn: 0}
    while stack:
        node = stack.pop()
        found.append((depths[node], type(node).__name__))
        for following, _ in reversed(node.next_functions):
            if following is not None:
                depths[following] = max(depths.get(following, 0), depths[node] + 1)
                stack.append(following)
    return found
