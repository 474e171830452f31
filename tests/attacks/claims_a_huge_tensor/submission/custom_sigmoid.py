"""Returns a tensor that claims to be a terabyte large."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.ones(1).expand(1 << 40)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return torch.ones(1).expand(1 << 40).sum()
