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
    """Run two backward passes from loss, and return what x.grad then holds:
    its old value plus both gradients.

    loss is a 0-d tensor computed from the leaf x. After the second pass the
    graph is freed.
    """
    # solution
    loss.backward(retain_graph=True)
    loss.backward()
    return x.grad
    # end solution


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Run the same two passes, but return a tuple of their two gradients, each
    without the other and without what x.grad held before.

    The two results and x.grad share no memory: writing to one changes no
    other. After the second pass the graph is freed.
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
    """Run one backward pass from each loss, and return the sum of the
    gradients at x.

    losses is a list of one or more 0-d tensors whose graphs share a trunk, the
    nodes nearest to x. Every pass retains the graph except the last, which
    frees it.
    """
    # solution
    x.grad = None
    *others, last = losses
    for loss in others:
        loss.backward(retain_graph=True)
    last.backward()
    return x.grad
    # end solution


# Does a second y.backward(torch.ones_like(y)) work if the first one did not
# retain the graph? x is a leaf that requires grad. Write True if it works and
# False if it raises, for each y, before you run anything.
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
