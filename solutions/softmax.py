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
        # solution
        top = x.amax(dim, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        y = (x - top).exp().sum(dim).log() + top.squeeze(dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, None]:
        """Return the gradient with respect to x, and None for dim.

        The gradient can be differentiated again.
        """
        # solution
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        softmax = (x - y.unsqueeze(ctx.dim)).exp()
        return grad_output.unsqueeze(ctx.dim) * softmax, None
        # end solution


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
        # solution
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        top = logits.amax(1, keepdim=True)
        shifted = logits - top
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient with respect to logits, and None for target
        and ignore_index.

        The gradient can be differentiated again.
        """
        # solution
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        softmax = exps / exps.sum(1, keepdim=True)
        one_hot = torch.zeros_like(logits).scatter(1, index, 1.0)
        weight = counts.to(logits.dtype) / counts.sum()
        gradient = (softmax - one_hot) * weight.unsqueeze(1)
        return grad_output * gradient, None, None
        # end solution


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
        # solution
        classes = logits.shape[1]
        one_hot = torch.zeros_like(logits).scatter(1, target[:, None], 1.0)
        wanted = one_hot * (1 - smoothing) + smoothing / classes
        shifted = logits - logits.amax(1, keepdim=True)
        log_softmax = shifted - shifted.exp().sum(1, keepdim=True).log()
        ctx.save_for_backward(logits, wanted)
        return -(wanted * log_softmax).sum(1).mean()
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient with respect to logits, and None for target
        and smoothing.

        The gradient can be differentiated again.
        """
        # solution
        logits, wanted = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        softmax = exps / exps.sum(1, keepdim=True)
        return grad_output * (softmax - wanted) / len(logits), None, None
        # end solution
