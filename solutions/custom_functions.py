"""custom_functions: write a sum, a product and a power as Functions with two
inputs.

Run `grade custom_functions` to check your work, `grade hint custom_functions`
for a hint. What holds in every lesson is in ../README.md.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


class Add(Function):
    """The sum x + y of two tensors of one shape and dtype."""

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor) -> Tensor:
        """Return x + y."""
        # solution
        return x + y
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and y as a tuple.

        grad_output is the gradient with respect to the result.
        """
        # solution
        return grad_output, grad_output
        # end solution


class Mul(Function):
    """The product x * y of two tensors of one shape and dtype."""

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor) -> Tensor:
        """Return x * y.

        Save what backward needs with ctx.save_for_backward.
        """
        # solution
        ctx.save_for_backward(x, y)
        return x * y
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and y as a tuple.

        grad_output is the gradient with respect to the result.
        """
        # solution
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x
        # end solution


class Pow(Function):
    """The power x ** q of two tensors of one shape and dtype.

    x is positive; q may be 0, close to 0 or negative.
    """

    @staticmethod
    def forward(ctx, x: Tensor, q: Tensor) -> Tensor:
        """Return x ** q.

        Save what backward needs with ctx.save_for_backward.
        """
        # solution
        ctx.save_for_backward(x, q)
        return x**q
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and q as a tuple.

        grad_output is the gradient with respect to the result.
        """
        # solution
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log(
            x
        )
        # end solution


def as_callable(function: type[Function]) -> Callable[..., Any]:
    """Return a callable that returns what function.apply returns for the same
    arguments.

    function is any class derived from Function: with one argument or more,
    which may be tensors or other objects. as_callable itself does not run it.
    Several callables can be used side by side.
    """

    # solution
    def call(*args: Any) -> Any:
        return function.apply(*args)

    return call
    # end solution


class BroadcastMul(Function):
    """Bonus: the product x * y of two tensors whose shapes broadcast, such as
    (3, 4) and (4,).
    """

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor) -> Tensor:
        """Return x * y.

        Save what backward needs with ctx.save_for_backward.
        """
        # solution
        ctx.save_for_backward(x, y)
        return x * y
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and y as a tuple.

        backward itself sums each gradient to the shape of its input.
        """
        # solution
        x, y = ctx.saved_tensors
        return (grad_output * y).sum_to_size(x.shape), (
            grad_output * x
        ).sum_to_size(y.shape)
        # end solution
