"""custom_functions: sum, product and power as Functions of your own, one gradient for each input.

Run `grade custom_functions` to see how far you are, `grade hint custom_functions` for a nudge.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


class Add(Function):
    """The sum of two tensors, x + y, elementwise.

    Like Mul and Pow it takes two float32 or two float64 tensors of one shape: any shape, a single
    number and an empty tensor included. In all of them you may split forward into forward(x, y) and
    setup_context(ctx, inputs, output).
    """

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor) -> Tensor:
        """Return x + y, of the same shape and dtype."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and to y, each of that shape; grad_output is the
        gradient with respect to the result.
        """
        raise NotImplementedError


class Mul(Function):
    """The product of two tensors, x * y, elementwise. Zero is a factor like any other."""

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor) -> Tensor:
        """Return x * y, of the same shape and dtype; tensors that backward needs are kept through
        save_for_backward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and to y, each of that shape; grad_output is the
        gradient with respect to the result.
        """
        raise NotImplementedError


class Pow(Function):
    """The power of two tensors, x ** q, elementwise. Every x is positive; q may be any number, zero
    and negative ones included.
    """

    @staticmethod
    def forward(ctx, x: Tensor, q: Tensor) -> Tensor:
        """Return x ** q, of the same shape and dtype; tensors that backward needs are kept through
        save_for_backward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and to q, each of that shape; grad_output is the
        gradient with respect to the result.
        """
        raise NotImplementedError


def as_callable(function: type[Function]) -> Callable[..., Any]:
    """Return something to be called like a plain function, which gives what function.apply gives
    for the same arguments.

    function is any Function, with one argument or with several, tensors or not, with one result or
    a tuple of them. Arguments are passed by position. Nothing runs before the call.
    """

    raise NotImplementedError


class BroadcastMul(Function):
    """Bonus: the product x * y of two tensors whose shapes broadcast, such as (3, 4) and (4,)."""

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor) -> Tensor:
        """Return x * y, of the shape to which both broadcast; tensors that backward needs are kept
        through save_for_backward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and to y, summed to the shape of x and of y by
        backward itself.
        """
        raise NotImplementedError
