"""backward without its ctx."""

import torch


class STE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(grad_output):
        return grad_output
