"""no_grad_and_detach: compute without a graph, and cut a tensor out of its
graph.

Run `grade no_grad_and_detach` to check your work, `grade hint
no_grad_and_detach` for a hint. What holds in every lesson is in ../README.md.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def predict(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return f(x), and record nothing while f computes it.

    x, or a tensor inside f, may require grad. f takes and returns one tensor
    and changes nothing in place. Afterwards grad mode is what it was before
    the call, on or off. If f raises, that holds too, and the caller gets f's
    exception.
    """
    # solution
    with torch.no_grad():
        return f(x)
    # end solution


def cut(y: Tensor) -> Tensor:
    """Return a tensor with y's values that has no graph and does not require
    grad: in another graph it counts as a constant.

    y, a leaf or not, keeps its place in its graph. The result may share memory
    with y.
    """
    # solution
    return y.detach()
    # end solution


def split_backward(
    x: Tensor,
    first: Callable[[Tensor], Tensor],
    second: Callable[[Tensor], Tensor],
) -> tuple[Tensor, Tensor]:
    """Compute y = first(x) and z = second(w), and go backward from z to w and
    then from y to x. w is a leaf that requires grad, with the values of y.

    Return a tuple: the gradient of z at x, then the gradient of z at w. x is a
    leaf that requires grad, and z is 0-d.
    """
    # solution
    y = first(x)
    w = y.detach().requires_grad_()
    z = second(w)
    x.grad = None
    z.backward()
    y.backward(w.grad)
    return x.grad, w.grad
    # end solution


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    """Return the mean of (online - target)² as a 0-d tensor.

    Its gradient at online is that of the mean with target as a constant. No
    gradient flows through target, even if it is a leaf or if both come from
    one graph. The two tensors have one shape and dtype and are not empty.
    """
    # solution
    return ((online - target.detach()) ** 2).mean()
    # end solution
