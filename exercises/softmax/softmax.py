"""softmax: write the functions behind every classifier's loss so that they
neither overflow nor give NaN, and can be differentiated twice.

Run `grade softmax` to check your work, `grade hint softmax` for a hint. What
holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor
from torch.autograd import Function


class LogSumExp(Function):
    """Compute log(sum(exp(x))) along one dimension of x.

    x has one dimension or more, and at least one entry along dim; dim itself
    may be negative. Entries are from -10,000 to 10,000, or -inf. If all
    entries along dim are -inf, the result is -inf, and their gradient is 0.
    """

    @staticmethod
    def forward(ctx, x: Tensor, dim: int) -> Tensor:
        """Return the result, which has all dimensions of x except dim.

        Save every tensor that backward needs with ctx.save_for_backward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, None]:
        """Return the gradient with respect to x, and None for dim.

        The gradient can be differentiated again.
        """
        raise NotImplementedError


class CrossEntropy(Function):
    """Compute the mean cross entropy of logits (N, C) and N class indices.

    A row counts if its target is not ignore_index; the mean is over these
    rows, of which there is at least one. Logits are from -10,000 to 10,000.
    In a row that counts, they may be -inf at classes other than the target.
    """

    @staticmethod
    def forward(
        ctx, logits: Tensor, target: Tensor, ignore_index: int
    ) -> Tensor:
        """Return the mean of -log(softmax(row)[target of the row]), 0-d.

        target has the dtype int64. ignore_index is any integer: a class, or
        a number outside of the classes, such as -100. Save what backward
        needs with ctx.save_for_backward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient with respect to logits, and None for target
        and ignore_index.

        The gradient can be differentiated again.
        """
        raise NotImplementedError


class SmoothedCrossEntropy(Function):
    """Bonus: the mean cross entropy with label smoothing, where every row
    counts and logits are from -10,000 to 10,000.

    A row's class has the probability 1 - smoothing + smoothing / C, each
    other class smoothing / C.
    """

    @staticmethod
    def forward(
        ctx, logits: Tensor, target: Tensor, smoothing: float
    ) -> Tensor:
        """Return the mean of -sum(probabilities * log(softmax(row))), 0-d.

        smoothing is from 0 to 1.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient with respect to logits, and None for target
        and smoothing.

        The gradient can be differentiated again.
        """
        raise NotImplementedError
