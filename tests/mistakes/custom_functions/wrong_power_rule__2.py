"""The logarithm of the exponent in place of that of the base."""

import torch
from torch.autograd import Function


class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        y = x**q
        ctx.save_for_backward(x, q, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, q, y = ctx.saved_tensors
        return grad_output * q * y / x, grad_output * y * torch.log(q)
