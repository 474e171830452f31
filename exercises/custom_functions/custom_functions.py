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
    """The sum x + y of two tensors, element by element.

    The rules below hold for Mul, Pow (where y is named q) and BroadcastMul
    too. Both inputs are float32 or both are float64. They have the same shape
    (except in BroadcastMul). Every shape works, including 0-d, empty and
    transposed tensors. The result and the gradients have the dtype of x, and
    are right to 8 digits in float64, to 4 in float32. The numbers in
    grad_output are finite, and may all be 0.

    x, y and grad_output belong to the caller: do not write into them. Calls
    must not affect each other. If x or y is changed in place, later calls use
    the new values. For an earlier call, backward then raises an error, or is
    right for the old values. backward may run several times for one call. You
    may split forward into forward(x, y) and setup_context(ctx, inputs,
    output). backward may return None only for an input that does not require
    grad.
    """

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor) -> Tensor:
        """Return x + y."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and y as a tuple, for any
        grad_output.

        grad_output is the gradient with respect to the result.
        """
        raise NotImplementedError


class Mul(Function):
    """The product x * y, element by element. Factors may be 0."""

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor) -> Tensor:
        """Return x * y. Save the tensors that backward needs with
        ctx.save_for_backward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and y as a tuple, for any
        grad_output.

        grad_output is the gradient with respect to the result.
        """
        raise NotImplementedError


class Pow(Function):
    """The power x ** q of two tensors, element by element.

    x is between 0.0001 and 10,000, and q is between -3 and 3. q may be 0 or
    close to 0.
    """

    @staticmethod
    def forward(ctx, x: Tensor, q: Tensor) -> Tensor:
        """Return x ** q. Save the tensors that backward needs with
        ctx.save_for_backward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and q as a tuple, for any
        grad_output.

        grad_output is the gradient with respect to the result.
        """
        raise NotImplementedError


def as_callable(function: type[Function]) -> Callable[..., Any]:
    """Return a callable that returns what function.apply returns for the same
    arguments.

    function is any class derived from Function. Its apply takes one or more
    arguments, tensors or other objects, and returns a tensor or a tuple of one
    or more tensors. Arguments are passed by position, and reach forward
    unchanged. The graph is that of apply; under torch.no_grad() there is none.
    as_callable itself does not run the Function. Several callables can be used
    side by side.
    """
    raise NotImplementedError


class BroadcastMul(Function):
    """Bonus: the product x * y of two tensors whose shapes broadcast, such as
    (3, 4) and (4,).

    No dimension has size 0 in one of them and size 1 in the other.
    """

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor) -> Tensor:
        """Return x * y. Save the tensors that backward needs with
        ctx.save_for_backward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and y as a tuple.

        backward itself sums each gradient to the shape of its input.
        """
        raise NotImplementedError
