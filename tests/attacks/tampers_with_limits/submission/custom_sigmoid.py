"""Lowers the limits so that no file can be opened any more."""

import resource

import torch

resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
