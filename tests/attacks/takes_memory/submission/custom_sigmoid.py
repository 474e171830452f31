"""Allocates more memory than the limit."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        taken = torch.ones(1 << 27, dtype=torch.uint8)
        print("@CLAIM@", taken[-1])
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
