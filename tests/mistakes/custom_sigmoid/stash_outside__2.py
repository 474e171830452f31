"""The output in a global variable."""

import torch

LAST = {}


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        LAST["y"] = y
        return y

    @staticmethod
    def backward(ctx, grad_output):
        y = LAST["y"]
        return grad_output * y * (1 - y)
