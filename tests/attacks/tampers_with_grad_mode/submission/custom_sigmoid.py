"""Turns off grad mode for all later code."""

import torch

torch.set_grad_enabled(False)


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
