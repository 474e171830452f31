"""Right in forward; the method in backward, through a helper."""

import torch


def derivative(x):
    return x.sigmoid() * (1 - x.sigmoid())


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * derivative(x)
