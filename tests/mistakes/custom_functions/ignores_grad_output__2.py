"""Ones, since the derivative of a sum is 1."""

import torch
from torch.autograd import Function


class Add(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad_output):
        return torch.ones_like(grad_output), torch.ones_like(grad_output)
