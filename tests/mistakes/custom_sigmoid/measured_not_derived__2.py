"""The mean of two one-sided differences."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        x = -torch.log(1 / y - 1)
        slopes = [(1 / (1 + torch.exp(-(x + h))) - y) / h for h in (1e-7, -1e-7)]
        return grad_output * sum(slopes) / 2
