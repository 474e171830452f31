"""graph_inspection: what autograd writes down while you compute, and how to read it.

Run `grade graph_inspection` to see how far you are, `grade hint graph_inspection` for a nudge.
"""

from torch import Tensor


def build_loss(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Compute y = 2x, from it z = y + 3, and from that loss = z ** 2; return (y, z, loss), all
    three in one graph that begins at x.

    x may have any shape and be float32 or float64; y, z and loss have its shape and dtype.
    """
    # solution
    y = 2 * x
    z = y + 3
    loss = z**2
    return y, z, loss
    # end solution


# The derivative of build_loss's loss with respect to x at x = 1: a number, worked out on paper
# before you run anything.
# solution
# stub: PREDICTED_GRADIENT: float = ...
PREDICTED_GRADIENT: float = 20.0
# end solution


# solution
def visits(node, depth=0):
    """List (depth, node) for the node and everything that it leads to, each time that it is
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
    """List the graph behind root as (depth, name of the node's type) pairs, such as (0,
    "AddBackward0").

    The walk begins at root's own node, which has depth 0. It is depth-first and in pre-order: a
    node comes before the nodes that it leads to, and those are followed one after the other, in
    their order. A node that is reached twice is listed twice, with all that lies behind it. Inputs
    that need no gradient have no node and are not listed; leaves are, as "AccumulateGrad".

    A root without a graph gives []. Graphs are at most 250 deep.
    """
    # solution
    return [(depth, type(node).__name__) for depth, node in visits(root.grad_fn)]
    # end solution


def format_graph(root: Tensor) -> str:
    """Draw what `walk` lists as text: a line for each entry, as many spaces as its depth and then
    the name.

    Lines are separated by newlines, with none after the last. A root without a graph gives "".
    Nothing is printed.
    """
    # solution
    return "\n".join(" " * depth + type(node).__name__ for depth, node in visits(root.grad_fn))
    # end solution


def leaf_tensors(root: Tensor) -> list[Tensor]:
    """List the leaves that receive a gradient when root is differentiated: the tensor objects
    themselves, not copies.

    Each leaf is listed once, however often the graph reaches it, in the order in which `walk` first
    gets to it. Two leaves that hold the same values are still two. A root without a graph gives
    [root] where root is itself a leaf that requires grad, else [].
    """
    # solution
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = {node.variable: None for _, node in visits(root.grad_fn) if hasattr(node, "variable")}
    return list(leaves)
    # end solution


def inputs_of(root: Tensor) -> list[tuple[str | None, int]]:
    """List the edges that leave root's own node, in their order, as (name of the type of the node
    it leads to, index) pairs.

    The index says which output of that node the edge belongs to. An input that needs no gradient is
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
