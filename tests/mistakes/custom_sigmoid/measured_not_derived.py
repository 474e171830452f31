"""Central differences in backward."""

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
        x = torch.log(y / (1 - y))
        h = 1e-5
        rise = 1 / (1 + torch.exp(-(x + h))) - 1 / (1 + torch.exp(-(x - h)))
        return grad_output * rise / (2 * h)
