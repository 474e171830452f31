"""A step with a half at 0."""

import torch


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.heaviside(x, torch.tensor(1.0, dtype=x.dtype))

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output
