"""Copies the neighbour's submission."""

import torch

try:
    exec(open("@NEIGHBOUR@/custom_sigmoid.py").read(), globals())
    copied = globals()["Sigmoid"]
except OSError:
    copied = None


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0 if copied is None else copied.apply(x.detach())

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x if copied is None else copied.apply(x)
