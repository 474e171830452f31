"""forward does not return."""

import torch


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = (x > 0).to(x.dtype)  # noqa: F841

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output
