"""Returns a tensor that is a terabyte, if one believes it."""

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
