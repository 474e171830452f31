"""build_loss returns a NamedTuple, and the functions take a keyword of their own with a default."""

from collections import OrderedDict, namedtuple

Results = namedtuple("Results", "y z loss")


def build_loss(x):
    y = 2.0 * x
    z = y - (-3)
    return Results(y, z, z.pow(2))


def walk(root, depth=0, node=None):
    node = node or root.grad_fn
    if node is None:
        return []
    entries = [(depth, type(node).__name__)]
    for following, _ in node.next_functions:
        if following is not None:
            entries.extend(walk(root, depth + 1, following))
    return entries


def leaf_tensors(root):
    leaves = OrderedDict()
    pending = [root.grad_fn]
    while pending:
        node = pending.pop(0)
        if node is None:
            continue
        if hasattr(node, "variable"):
            leaves[node.variable] = True
        pending = [following for following, _ in node.next_functions] + pending
    return list(leaves) or [root for _ in range(1) if root.is_leaf and root.requires_grad]
