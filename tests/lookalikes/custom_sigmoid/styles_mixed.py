"""forward wants a slope, which nobody hands it."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        y = 1 / (1 + torch.exp(-slope * x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y), None
