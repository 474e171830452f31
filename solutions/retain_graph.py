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
    # solution
    z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)
    raise AssertionError("the second backward went through")
    # end solution


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    """Run two backward passes through the graph of loss, and return what
    x.grad holds afterwards.

    loss is a 0-d tensor, computed from the leaf x, which has any shape and is
    float32 or float64. Do not clear x.grad. Afterwards it holds its old value
    plus both gradients, in the old tensor or in a new one. The result has x's
    shape and dtype. The graph is freed afterwards, so a third pass raises if a
    node between loss and x saves a tensor.
    """
    # solution
    loss.backward(retain_graph=True)
    loss.backward()
    return x.grad
    # end solution


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Run two backward passes through the graph of loss, clear x.grad before
    each, and return the gradients of both passes as a tuple.

    loss and x are as in backward_twice. Neither result contains what x.grad
    held before. Each result has x's shape and dtype. The two results and
    x.grad share no memory: writing to one does not change another. The graph
    is freed afterwards, so a third pass raises if a node between loss and x
    saves a tensor.
    """
    # solution
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    x.grad = None
    loss.backward()
    return first, x.grad.clone()
    # end solution


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    """Return the sum of the gradients of all losses with respect to x, from
    one backward pass for each loss, in any order.

    losses is a list of one or more 0-d tensors. No tensor is in it twice, but
    values may be equal. Their graphs share the trunk, the nodes nearest to x;
    x is as in backward_twice. Every pass retains the graph except the one that
    runs last, which frees the trunk. The result does not contain what x.grad
    held before. The result has x's shape and dtype.
    """
    # solution
    x.grad = None
    *others, last = losses
    for loss in others:
        loss.backward(retain_graph=True)
    last.backward()
    return x.grad
    # end solution


# For each expression y of a leaf x that requires grad: does a second
# y.backward(torch.ones_like(y)) work although the first one did not retain the
# graph? Write True if it works and False if it raises, before you run
# anything.
# solution
# stub: SURVIVES_SECOND_BACKWARD: dict[str, bool] = {
# stub:     "x + 1": ...,
# stub:     "x * 2": ...,
# stub:     "x ** 2": ...,
# stub:     "x.exp()": ...,
# stub:     "x.sum()": ...,
# stub:     "-x": ...,
# stub: }
SURVIVES_SECOND_BACKWARD: dict[str, bool] = {
    "x + 1": True,
    "x * 2": False,
    "x ** 2": False,
    "x.exp()": False,
    "x.sum()": True,
    "-x": True,
}
# end solution
