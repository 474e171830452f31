"""Loops for ever when an object is deleted."""

import torch

class Sticky:
    def __del__(self):
        while True:
            pass


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        Sticky()
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
