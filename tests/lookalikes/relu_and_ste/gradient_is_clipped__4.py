"""The gradient goes through a tanh."""

import torch


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return torch.tanh(grad_output)
