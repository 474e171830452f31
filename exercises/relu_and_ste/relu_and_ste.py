"""relu_and_ste: one gradient that is derived, and one that is declared.

Run `grade relu_and_ste` to see how far you are, `grade hint relu_and_ste` for a nudge.
"""

import torch
from torch import Tensor

# All classes here take a float32 or float64 tensor of any shape, a single number and an empty
# tensor included, contiguous or not, with elements of any size up to 1e30. What they are given, x
# and grad_output, stays as it was. Results of several calls may be differentiated in any order and,
# where the graph is retained, more than once. Both styles of Function are right: forward(ctx, x),
# or forward(x) with setup_context(ctx, inputs, output).


class MyReLU(torch.autograd.Function):
    """The rectifier, elementwise: x where x is above 0, else 0."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Return max(x, 0), of x's shape and dtype."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the gradient with respect to x, of x's shape; grad_output, of the same shape, is
        the gradient with respect to max(x, 0).

        At exactly 0 there is no derivative: take 0 or 1 for it, as you like, and nothing in
        between.
        """
        raise NotImplementedError


def relu(x: Tensor) -> Tensor:
    """Return max(x, 0), of x's shape and dtype, by way of MyReLU."""
    raise NotImplementedError


class STE(torch.autograd.Function):
    """The straight-through estimator, elementwise: a step from 0 to 1 whose gradient is declared to
    be that of the identity.
    """

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Return 1 where x is above 0, else 0, of x's shape and dtype."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return what is declared to be the gradient with respect to x, as if forward had returned
        x itself.
        """
        raise NotImplementedError


def binarize(x: Tensor) -> Tensor:
    """Return 1 where x is above 0, else 0, of x's shape and dtype, by way of STE."""
    raise NotImplementedError


class ClippedSTE(torch.autograd.Function):
    """Bonus. The same step as STE; the declared gradient is that of the identity where -1 <= x <=
    1, and 0 elsewhere.
    """

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Return 1 where x is above 0, else 0, of x's shape and dtype."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the declared gradient with respect to x, of x's shape; both borders, -1 and 1,
        belong to the inside.
        """
        raise NotImplementedError
