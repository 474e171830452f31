"""What only the worker can do in softmax, besides the engine's scenarios."""

from functools import partial

import torch

from grader.worker.scenarios import function_class, lend_in


def summed(ctx, x, dim):
    """forward of a LogSumExp without mistakes."""
    top = x.amax(dim, keepdim=True)
    top = top.masked_fill(top == -torch.inf, 0.0)
    y = (x - top).exp().sum(dim).log() + top.squeeze(dim)
    ctx.save_for_backward(x, y)
    ctx.dim = dim
    return y


def summed_back(ctx, grad_output):
    """backward of a LogSumExp without mistakes."""
    x, y = ctx.saved_tensors
    y = y.masked_fill(y == -torch.inf, 0.0).unsqueeze(ctx.dim)
    return grad_output.unsqueeze(ctx.dim) * (x - y).exp(), None


def lend(student):
    """From now on, the other classes use a LogSumExp without mistakes."""
    lend_in(student, "LogSumExp", partial(function_class, forward=summed, backward=summed_back))
