"""The same, and saved_tensors is indexed."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        y = ctx.saved_tensors[0]
        return grad_output * y * (1 - y)
