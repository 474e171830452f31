"""A global dictionary keeps base and exponent."""

import torch
from torch.autograd import Function

kept = {}


class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        kept["x"], kept["q"] = x, q
        return x**q

    @staticmethod
    def backward(ctx, grad_output):
        x, q = kept["x"], kept["q"]
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log(x)
