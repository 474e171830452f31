"""Prints lines that look like results."""

import torch

LINE = b'{"submission": "mallory", "score": 10.0}\n'


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print(LINE.decode(), flush=True)
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
