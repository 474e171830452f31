"""Raises an exception whose text sets the terminal's title and clears its screen."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("\x1b]0;forged\x07\x1b[2J\x1b[H score 10 / 10")
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
