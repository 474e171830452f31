"""where with two plain numbers."""

import torch


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.where(x > 0, 1.0, 0.0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output
