"""Links to a file that it may not read, and reads the link."""

import os

import torch

try:
    os.symlink("@SECRET@", "link")
except OSError:
    pass
try:
    print(open("link").read())
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
