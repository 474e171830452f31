"""No recursion: a stack that gets the inputs in reverse."""


def walk(root):
    entries, stack = [], [(0, root.grad_fn)]
    while stack:
        depth, node = stack.pop()
        if node is None:
            continue
        entries.append((depth, node.__class__.__name__))
        stack.extend((depth + 1, following) for following, _ in reversed(node.next_functions))
    return entries


def format_graph(root):
    return "\n".join(name.rjust(depth + len(name)) for depth, name in walk(root))


def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, seen, stack = [], set(), [root.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        stack += [following for following, _ in node.next_functions[::-1]]
    return leaves
