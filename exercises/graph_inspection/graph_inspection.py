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
    raise NotImplementedError


# The derivative of build_loss's loss with respect to x at x = 1, as a plain
# number and not a tensor. Work it out on paper before you run anything.
PREDICTED_GRADIENT: float = ...


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
    raise NotImplementedError


def format_graph(root: Tensor) -> str:
    """Return what walk lists as text: one line for each pair, as many spaces
    as its depth, then the name.

    Newlines separate the lines, and none follows the last. A root without a
    graph gives "". Nothing is printed.
    """
    raise NotImplementedError


def leaf_tensors(root: Tensor) -> list[Tensor]:
    """Return a list of the leaves whose nodes walk reaches: the tensors
    themselves, not copies.

    Each leaf is listed once, in the order in which walk first reaches them.
    Leaves with equal values are different leaves, even if they share memory.
    If root.grad_fn is None, the list is [root] if root requires grad, and []
    otherwise.
    """
    raise NotImplementedError


def inputs_of(root: Tensor) -> list[tuple[str | None, int]]:
    """Return a list of the edges of root's own node, in their order, as (name,
    index) pairs.

    name is the name of the type of the node that the edge leads to. index says
    which output of that node the edge belongs to. An edge without a node gives
    (None, 0). A root without a graph, whose grad_fn is None, gives [].
    """
    raise NotImplementedError
