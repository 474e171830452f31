"""forward wants a threshold, which nobody hands it."""

import torch


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, threshold):
        return (x > threshold).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None
