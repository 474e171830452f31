"""graph_inspection: read the graph that autograd records while you compute.

Run `grade graph_inspection` to check your work, `grade hint graph_inspection`
for a hint. What holds in every lesson is in ../README.md.
"""

from torch import Tensor


def build_loss(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Compute y = 2x, z = y + 3 and loss = z ** 2, and return (y, z, loss).

    z is computed from the returned y, and loss from the returned z. x requires
    grad.
    """
    # solution
    y = 2 * x
    z = y + 3
    loss = z**2
    return y, z, loss
    # end solution


# The derivative of build_loss's loss with respect to x at x = 1, as a plain
# number. Work it out on paper before you run anything.
# solution
# stub: PREDICTED_GRADIENT: float = ...
PREDICTED_GRADIENT: float = 20.0
# end solution


# solution
def visits(node, depth=0):
    """List (depth, node) for a node and everything behind it, each time it is
    reached.
    """
    if node is None:
        return []
    found = [(depth, node)]
    for following, _ in node.next_functions:
        found += visits(following, depth + 1)
    return found


# end solution
def walk(root: Tensor) -> list[tuple[int, str]]:
    """Return the graph of root as a list of pairs (depth, name), depth-first.

    name is the name of a node's type, such as "AddBackward0". root's own node
    comes first, at depth 0. The inputs of a node are one level deeper, in the
    order of next_functions. A node that is reached twice is listed twice. A
    root without a graph gives [].
    """
    # solution
    return [
        (depth, type(node).__name__) for depth, node in visits(root.grad_fn)
    ]
    # end solution


def format_graph(root: Tensor) -> str:
    """Return what walk lists as text: one line for each pair, as many spaces
    as its depth, then the name.

    A root without a graph gives "".
    """
    # solution
    return "\n".join(
        " " * depth + type(node).__name__
        for depth, node in visits(root.grad_fn)
    )
    # end solution


def leaf_tensors(root: Tensor) -> list[Tensor]:
    """Return a list of the leaves that walk reaches: the tensors themselves.

    Each leaf is listed once, in the order in which walk first reaches it. If
    root.grad_fn is None, the list is [root] if root requires grad, and []
    otherwise.
    """
    # solution
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = {
        node.variable: None
        for _, node in visits(root.grad_fn)
        if hasattr(node, "variable")
    }
    return list(leaves)
    # end solution


def inputs_of(root: Tensor) -> list[tuple[str | None, int]]:
    """Return the edges of root's own node as a list of pairs (name, index).

    name is the name of the type of the node that the edge leads to. index says
    which output of that node the edge belongs to. An edge without a node gives
    (None, 0). A root without a graph gives [].
    """
    # solution
    if root.grad_fn is None:
        return []
    return [
        (None if node is None else type(node).__name__, index)
        for node, index in root.grad_fn.next_functions
    ]
    # end solution
