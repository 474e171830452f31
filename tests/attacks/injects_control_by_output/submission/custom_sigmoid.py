"""Prints control sequences."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("\x1b]0;forged\x07\x9b2J")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
