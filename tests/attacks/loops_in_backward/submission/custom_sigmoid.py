"""Loops for ever in backward."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def backward(ctx, grad_output):
        while True:
            pass
        return grad_output * 0


def sigmoid(x):
    return Sigmoid.apply(x)
