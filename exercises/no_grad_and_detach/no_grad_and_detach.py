"""no_grad_and_detach: compute without a graph, and cut a tensor out of its
graph.

Run `grade no_grad_and_detach` to check your work, `grade hint
no_grad_and_detach` for a hint. What holds in every lesson is in ../README.md.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def predict(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return the value of f(x), and record nothing while f computes it.

    This holds even if x or a tensor inside f requires grad. f takes one
    tensor, does not change it in place, and returns one tensor. x has any
    shape and is float32 or float64. The call leaves x's values, graph,
    requires_grad and .grad unchanged. After the call, grad mode is what it was
    before, on or off, even if f raises. If f raises an exception, whatever its
    type, the caller gets the same exception object.
    """
    raise NotImplementedError


def cut(y: Tensor) -> Tensor:
    """Return a tensor with y's values, shape and dtype that has no graph and
    does not require grad.

    y is float32 or float64, a leaf or not, and has any shape. y keeps its
    values, its place in its graph, and its requires_grad. The result can be a
    factor in another graph, where it counts as a constant. The result may
    share memory with y.
    """
    raise NotImplementedError


def split_backward(
    x: Tensor,
    first: Callable[[Tensor], Tensor],
    second: Callable[[Tensor], Tensor],
) -> tuple[Tensor, Tensor]:
    """Compute y = first(x) and z = second(w), and go backward in two stages.

    w has y's values and is cut from y's graph: it is a leaf that requires
    grad. x is a float32 or float64 leaf that requires grad, y has any shape,
    and z is 0-d. y has the dtype of x or is float64. Return a tuple of the
    gradient of z at x and the gradient of z at w, each with the shape and
    dtype of its tensor. Before the call, x.grad is None or holds numbers from
    -100 to 100. The result does not contain them; subtracting them from the
    new x.grad is accurate enough. The results may share memory with x.grad or
    with each other. x keeps its values and still requires grad.
    """
    raise NotImplementedError


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    """Return the mean of (online - target)² as a 0-d tensor of their dtype.

    Both tensors have the same dtype, float32 or float64, and the same shape,
    which may be 0-d. Neither is empty. The gradient at online is that of the
    mean with target as a constant. No gradient of the loss flows through
    target (zeros are allowed), even if it is a leaf, or if both come from one
    graph. Both tensors keep their values, their place in their graphs, and
    their requires_grad.
    """
    raise NotImplementedError
