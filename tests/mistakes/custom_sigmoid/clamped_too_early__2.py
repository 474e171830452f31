"""The value is clamped, as probabilities are before a logarithm."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = (1 / (1 + torch.exp(-x))).clamp(1e-7, 1 - 1e-7)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)
