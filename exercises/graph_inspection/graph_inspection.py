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
    raise NotImplementedError


# The derivative of build_loss's loss with respect to x at x = 1, as a plain
# number. Work it out on paper before you run anything.
PREDICTED_GRADIENT: float = ...


def walk(root: Tensor) -> list[tuple[int, str]]:
    """Return the graph of root as a list of pairs (depth, name), depth-first.

    name is the name of a node's type, such as "AddBackward0". root's own node
    comes first, at depth 0. The inputs of a node are one level deeper, in the
    order of next_functions. A node that is reached twice is listed twice. A
    root without a graph gives [].
    """
    raise NotImplementedError


def format_graph(root: Tensor) -> str:
    """Return what walk lists as text: one line for each pair, as many spaces
    as its depth, then the name.

    A root without a graph gives "".
    """
    raise NotImplementedError


def leaf_tensors(root: Tensor) -> list[Tensor]:
    """Return a list of the leaves that walk reaches: the tensors themselves.

    Each leaf is listed once, in the order in which walk first reaches it. If
    root.grad_fn is None, the list is [root] if root requires grad, and []
    otherwise.
    """
    raise NotImplementedError


def inputs_of(root: Tensor) -> list[tuple[str | None, int]]:
    """Return the edges of root's own node as a list of pairs (name, index).

    name is the name of the type of the node that the edge leads to. index says
    which output of that node the edge belongs to. An edge without a node gives
    (None, 0). A root without a graph gives [].
    """
    raise NotImplementedError
