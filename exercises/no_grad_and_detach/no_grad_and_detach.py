"""no_grad_and_detach: ways out of the graph, and what each of them cuts.

Run `grade no_grad_and_detach` to grade your work, `grade hint no_grad_and_detach` for a hint.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def predict(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return f(x) without building a graph.

    f takes one tensor and returns one. x has any shape, float32 or float64. x and the tensors that
    f uses may require grad. Afterwards the grad mode is what it was before, on or off, and x is
    unchanged. If f raises, the exception reaches the caller, and the grad mode is restored.
    """
    raise NotImplementedError


def cut(y: Tensor) -> Tensor:
    """Return a tensor with y's values that has no graph.

    The result has y's shape and dtype, does not require grad, and can be a factor in another graph.
    y is float32 or float64, of any shape, a leaf or the result of operations. y keeps its values,
    its place in its graph and its requires_grad.
    """
    raise NotImplementedError


def split_backward(
    x: Tensor, first: Callable[[Tensor], Tensor], second: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Run backward in two stages; return the gradient at x and the gradient at w.

    Compute y = first(x), make w from y by cutting it off its graph, and compute z = second(w). w is
    a leaf that requires grad. x is a leaf that requires grad, y has any shape, and z is a 0-d
    tensor. Return a tuple: the gradient of z with respect to x, then the one with respect to w,
    each with the shape and dtype of its tensor. Finite numbers that x.grad held before are not part
    of the results. x keeps its values and still requires grad.
    """
    raise NotImplementedError


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    """Return the mean of (online - target)² as a loss with a gradient for online only.

    online and target have the same shape, 0-d included, and the same dtype. Both may be results of
    one graph. The loss is a 0-d tensor of that dtype. Its gradient flows to online, and none flows
    through target. Both tensors keep their values and their graphs.
    """
    raise NotImplementedError
