"""Prints a file that is not the student's."""

import torch

try:
    print(open("@SECRET@").read())
except OSError as error:
    print(type(error).__name__)


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
