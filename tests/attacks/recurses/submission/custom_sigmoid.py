"""Overflows the Python stack and the C stack."""

import sys

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        sys.setrecursionlimit(1 << 30)

        def deeper(value):
            return deeper([value]).__repr__()

        nested = []
        for _ in range(1 << 20):
            nested = [nested]
        repr(nested)
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
