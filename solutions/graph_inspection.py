"""graph_inspection: read the graph that autograd records while you compute.

Run `grade graph_inspection` to check your work, `grade hint graph_inspection`
for a hint. What holds in every lesson is in ../README.md.
"""

from torch import Tensor


def build_loss(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Compute y = 2x, z = y + 3 and loss = z ** 2, by any operations, and
    return the tuple (y, z, loss).

    z is computed from the returned y, and loss from the returned z, in one
    graph that starts at x. x is a leaf or an intermediate result. It requires
    grad, has any shape, and is float32 or float64. y, z and loss have its
    shape and dtype.
    """
    # solution
    y = 2 * x
    z = y + 3
    loss = z**2
    return y, z, loss
    # end solution


# The derivative of build_loss's loss with respect to x at x = 1, as a plain
# number and not a tensor. Work it out on paper before you run anything.
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
    """Return the graph of root as a list of (depth, name) pairs, such as (0,
    "AddBackward0").

    name is the name of the node's type. The first pair is root's own node,
    root.grad_fn, at depth 0; the inputs of a node are one level deeper. The
    walk is depth-first and takes inputs in the order of next_functions: a node
    comes before its inputs, and everything that one input leads to comes
    before the next input. A node that is reached twice is listed twice, with
    everything that it leads to. An input without a node is skipped.

    A root without a graph, whose grad_fn is None, gives []. Every graph in
    this lesson has depths up to 230, and a walk of at most 1,000 pairs.
    """
    # solution
    return [
        (depth, type(node).__name__) for depth, node in visits(root.grad_fn)
    ]
    # end solution


def format_graph(root: Tensor) -> str:
    """Return what walk lists as text: one line for each pair, as many spaces
    as its depth, then the name.

    Newlines separate the lines, and none follows the last. A root without a
    graph gives "". Nothing is printed.
    """
    # solution
    return "\n".join(
        " " * depth + type(node).__name__
        for depth, node in visits(root.grad_fn)
    )
    # end solution


def leaf_tensors(root: Tensor) -> list[Tensor]:
    """Return a list of the leaves whose nodes walk reaches: the tensors
    themselves, not copies.

    Each leaf is listed once, in the order in which walk first reaches them.
    Leaves with equal values are different leaves, even if they share memory.
    If root.grad_fn is None, the list is [root] if root requires grad, and []
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
    """Return a list of the edges of root's own node, in their order, as (name,
    index) pairs.

    name is the name of the type of the node that the edge leads to. index says
    which output of that node the edge belongs to. An edge without a node gives
    (None, 0). A root without a graph, whose grad_fn is None, gives [].
    """
    # solution
    if root.grad_fn is None:
        return []
    return [
        (None if node is None else type(node).__name__, index)
        for node, index in root.grad_fn.next_functions
    ]
    # end solution
