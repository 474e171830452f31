"""retain_graph: run backward more than once through one graph, and see where
the gradients go.

Run `grade retain_graph` to check your work, `grade hint retain_graph` for a
hint. What holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor


def second_backward_error(x: Tensor) -> str:
    """Return the message of the RuntimeError that a second backward raises.

    Build z = log(x ** 3) and call backward on z twice, both times without
    retain_graph. Return the error's text alone, without the name of its type.
    x is a positive 0-d leaf that requires grad.
    """
    raise NotImplementedError


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    """Run two backward passes from loss, and return what x.grad then holds:
    its old value plus both gradients.

    loss is a 0-d tensor computed from the leaf x. After the second pass the
    graph is freed.
    """
    raise NotImplementedError


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Run the same two passes, but return a tuple of their two gradients, each
    without the other and without what x.grad held before.

    The two results and x.grad share no memory: writing to one changes no
    other. After the second pass the graph is freed.
    """
    raise NotImplementedError


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    """Run one backward pass from each loss, and return the sum of the
    gradients at x.

    losses is a list of one or more 0-d tensors whose graphs share a trunk, the
    nodes nearest to x. Every pass retains the graph except the last, which
    frees it.
    """
    raise NotImplementedError


# Does a second y.backward(torch.ones_like(y)) work if the first one did not
# retain the graph? x is a leaf that requires grad. Write True if it works and
# False if it raises, for each y, before you run anything.
SURVIVES_SECOND_BACKWARD: dict[str, bool] = {
    "x + 1": ...,
    "x * 2": ...,
    "x ** 2": ...,
    "x.exp()": ...,
    "x.sum()": ...,
    "-x": ...,
}
