"""The output as an attribute of the class."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        Sigmoid.y = y
        return y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * Sigmoid.y * (1 - Sigmoid.y)
