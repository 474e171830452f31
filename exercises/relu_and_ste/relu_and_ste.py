"""relu_and_ste: write one gradient that is true, and one that is declared.

Run `grade relu_and_ste` to check your work, `grade hint relu_and_ste` for a
hint. What holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor


class MyReLU(torch.autograd.Function):
    """Compute the rectifier max(x, 0) elementwise."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Return max(x, 0)."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the gradient with respect to x; grad_output is the gradient
        with respect to max(x, 0).

        Where x is exactly 0, the slope is 0 or 1, whatever grad_output is.
        """
        raise NotImplementedError


def relu(x: Tensor) -> Tensor:
    """Return MyReLU.apply(x)."""
    raise NotImplementedError


class STE(torch.autograd.Function):
    """Compute a step whose declared gradient is that of the identity: the
    straight-through estimator.
    """

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Return 1 where x > 0, and 0 elsewhere."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the gradient at x, as if forward had returned x."""
        raise NotImplementedError


def binarize(x: Tensor) -> Tensor:
    """Return STE.apply(x)."""
    raise NotImplementedError


class ClippedSTE(torch.autograd.Function):
    """Bonus: compute the step of STE, with a gradient that passes only where
    -1 <= x <= 1.
    """

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Return 1 where x > 0, and 0 elsewhere."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return grad_output where -1 <= x <= 1, and 0 elsewhere."""
        raise NotImplementedError
