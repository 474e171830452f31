"""Prints the target of a link that is not the student's."""

import os

import torch

try:
    print(os.readlink("@LINK@"))
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
