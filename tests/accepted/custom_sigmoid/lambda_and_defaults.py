"""A further argument with a default; a lambda."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope=1.0):
        y = 1 / (1 + torch.exp(-slope * x))
        ctx.save_for_backward(y)
        ctx.slope = slope
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return ctx.slope * grad_output * y * (1 - y), None


sigmoid = lambda x: Sigmoid.apply(x, 1.0)  # noqa: E731
