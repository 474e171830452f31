"""gradcheck: is a backward right? Ask the forward, at two points close to each other.

Run `grade gradcheck` to see how far you are, `grade hint gradcheck` for a nudge.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd import Function


def passes_gradcheck(fn: Callable, *inputs: Tensor) -> bool:
    """Return whether torch.autograd.gradcheck, with its default settings, finds the gradients of fn
    right at inputs.

    fn takes as many tensors as there are inputs and returns a tensor or a tuple of tensors. The
    inputs are float32 or float64, of any shape and strides; some, all or none require grad. fn is
    checked on float64 copies of them, all of which require grad. The tensors of the caller are
    unchanged afterwards: their values, requires_grad and .grad. A gradient that is wrong gives
    False, and so does whatever exception comes out of fn; nothing is raised.
    """
    raise NotImplementedError


def numerical_jacobian(fn: Callable, x: Tensor, eps: float = 1e-6) -> Tensor:
    """Return the Jacobian of y = fn(x) from values of fn alone, as a float64 tensor of shape
    (y.numel(), x.numel()).

    The element in row i and column k is the slope of the i-th element of y as the k-th element of x
    goes from eps below to eps above; elements are counted in the order of flatten(). fn takes a
    tensor of x's shape, and y may have any shape; both may be 0-d, and x may be empty. x is float32
    or float64; everything is computed in float64. x is unchanged afterwards. No autograd is used.
    """
    raise NotImplementedError


def find_broken(functions: dict[str, Callable], x: Tensor) -> set[str]:
    """Return the names of the functions that gradcheck rejects at x, as a set.

    functions maps names to functions of one tensor, any number of them, none included. x is float32
    or float64; the functions are checked in float64. A function that raises an Exception counts as
    rejected. x is unchanged afterwards.
    """
    raise NotImplementedError


class FixedPow(Function):
    """The power of two tensors of one shape, x ** q, elementwise. Every x is positive; q may be any
    number.

    float32 or float64, any shape, 0-d and empty included. It comes to you with a backward that
    gradcheck rejects.
    """

    @staticmethod
    def forward(ctx, x: Tensor, q: Tensor) -> Tensor:
        """Return x ** q, of the same shape and dtype."""
        ctx.save_for_backward(x, q)
        return x**q

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and to q, each of that shape; grad_output is the
        gradient with respect to x ** q.
        """
        x, q = ctx.saved_tensors
        grad_x = grad_output * q * x ** (q - 1)
        grad_q = grad_output * x**q * torch.log(x + 1)
        return grad_x, grad_q
