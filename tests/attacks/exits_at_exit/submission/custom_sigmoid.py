"""Prints a result at the exit of the process."""

import atexit

import torch

atexit.register(lambda: print('{"submission": "mallory", "score": 10.0}', flush=True))


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
