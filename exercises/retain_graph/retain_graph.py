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
    retain_graph. Return the text of the error alone, without the name of its
    type. x is a positive 0-d leaf that requires grad, float32 or float64.
    """
    raise NotImplementedError


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    """Run two backward passes through the graph of loss, and return what
    x.grad holds afterwards.

    loss is a 0-d tensor, computed from the leaf x, which has any shape and is
    float32 or float64. Do not clear x.grad. Afterwards it holds its old value
    plus both gradients, in the old tensor or in a new one. The result has x's
    shape and dtype. The graph is freed afterwards, so a third pass raises if a
    node between loss and x saves a tensor.
    """
    raise NotImplementedError


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Run two backward passes through the graph of loss, clear x.grad before
    each, and return the gradients of both passes as a tuple.

    loss and x are as in backward_twice. Neither result contains what x.grad
    held before. Each result has x's shape and dtype. The two results and
    x.grad share no memory: writing to one does not change another. The graph
    is freed afterwards, so a third pass raises if a node between loss and x
    saves a tensor.
    """
    raise NotImplementedError


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    """Return the sum of the gradients of all losses with respect to x, from
    one backward pass for each loss, in any order.

    losses is a list of one or more 0-d tensors. No tensor is in it twice, but
    values may be equal. Their graphs share the trunk, the nodes nearest to x;
    x is as in backward_twice. Every pass retains the graph except the one that
    runs last, which frees the trunk. The result does not contain what x.grad
    held before. The result has x's shape and dtype.
    """
    raise NotImplementedError


# For each expression y of a leaf x that requires grad: does a second
# y.backward(torch.ones_like(y)) work although the first one did not retain the
# graph? Write True if it works and False if it raises, before you run
# anything.
SURVIVES_SECOND_BACKWARD: dict[str, bool] = {
    "x + 1": ...,
    "x * 2": ...,
    "x ** 2": ...,
    "x.exp()": ...,
    "x.sum()": ...,
    "-x": ...,
}
