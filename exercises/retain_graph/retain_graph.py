"""retain_graph: more than one backward through one graph, and what becomes of the gradients.

Run `grade retain_graph` to see how far you are, `grade hint retain_graph` for a nudge.
"""

import torch
from torch import Tensor


def second_backward_error(x: Tensor) -> str:
    """Return the message of the RuntimeError that a second backward raises.

    Build z = log(x ** 3), run backward on z without retain_graph, then run it again; the text of
    what the second one raises comes back, just the text. x is a 0-d leaf, float32 or float64,
    positive, that requires grad.
    """
    raise NotImplementedError


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    """Run two backward passes through the one graph of loss, and return what x.grad holds then.

    loss is a scalar, x a leaf of its graph, of any shape. An x.grad from before is not cleared, so
    it counts. The result has x's shape and dtype. Afterwards what the graph saved is freed, as one
    backward leaves it.
    """
    raise NotImplementedError


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Run the same two passes, each with x.grad cleared before it, and return the gradient of the
    first and of the second.

    Each of the two has x's shape and dtype. They share memory neither with each other nor with
    x.grad: writing into one changes nothing else. Afterwards the graph is freed.
    """
    raise NotImplementedError


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    """Return the sum of the gradients of all losses with respect to x, from one backward pass for
    each loss.

    losses is a list of one or more scalars whose graphs share a trunk that leads back to the leaf
    x. The graph is retained for all passes but the last, so afterwards it is freed. Whatever x.grad
    held before is not counted in. The result has x's shape and dtype.
    """
    raise NotImplementedError


# True where a second y.backward(torch.ones_like(y)) goes through although the first one did not
# retain the graph, else False; y is the expression, x a leaf that requires grad. Write down what
# you think before you run anything.
SURVIVES_SECOND_BACKWARD: dict[str, bool] = {
    "x + 1": ...,
    "x * 2": ...,
    "x ** 2": ...,
    "x.exp()": ...,
    "x.sum()": ...,
    "-x": ...,
}
