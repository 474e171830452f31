"""Overwrites the neighbour's submission."""

import torch

try:
    with open("@NEIGHBOUR@/custom_sigmoid.py", "w") as file:
        file.write("raise ValueError")
except OSError:
    pass


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
