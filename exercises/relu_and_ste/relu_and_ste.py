"""relu_and_ste: write one gradient that is true, and one that is declared.

Run `grade relu_and_ste` to check your work, `grade hint relu_and_ste` for a
hint. What holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor


class MyReLU(torch.autograd.Function):
    """The rectifier max(x, 0), element by element.

    x is a float32 or float64 tensor of any shape. The elements of x and
    grad_output are 0 or have an absolute value from 1e-30 to 1e30. Calls must
    not affect each other, and backward must be able to run again on a retained
    graph. The caller changes neither x nor the result between forward and
    backward. You may split forward into forward(x) and setup_context(ctx,
    inputs, output).
    """

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Return max(x, 0), in the shape and dtype of x. Leave x as it was."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the gradient with respect to x.

        grad_output is the gradient with respect to max(x, 0). Where x is
        exactly 0, the slope must be 0 or 1, whatever grad_output is. Leave
        grad_output as it was.
        """
        raise NotImplementedError


def relu(x: Tensor) -> Tensor:
    """Return MyReLU.apply(x): autograd must call MyReLU.backward. Leave x as
    it was.
    """
    raise NotImplementedError


class STE(torch.autograd.Function):
    """The straight-through estimator: a step whose declared gradient is that
    of the identity.

    The rules for inputs, calls and styles are those of MyReLU.
    """

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Return 1 where x > 0, and 0 elsewhere, with the shape and dtype of
        x.

        Leave x as it was.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the gradient with respect to x as if forward had returned x.

        Leave grad_output as it was.
        """
        raise NotImplementedError


def binarize(x: Tensor) -> Tensor:
    """Return STE.apply(x), which calls STE.backward. Leave x as it was."""
    raise NotImplementedError


class ClippedSTE(torch.autograd.Function):
    """Bonus: the step of STE, with a gradient that passes only where -1 <= x
    <= 1.

    The rules for inputs, calls and styles are those of MyReLU.
    """

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Return 1 where x > 0, and 0 elsewhere, with the shape and dtype of
        x.

        Leave x as it was.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return grad_output where -1 <= x <= 1, and 0 elsewhere. Leave
        grad_output as it was.
        """
        raise NotImplementedError
