"""Tests whether it may send signals to its parent."""

import os

import torch

try:
    os.kill(os.getppid(), 0)
    print("@CLAIM@")
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
