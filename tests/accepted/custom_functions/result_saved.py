"""Add saves its result and never asks for it; Pow makes both gradients from its result."""

import torch
from torch.autograd import Function


class Add(Function):
    @staticmethod
    def forward(ctx, x, y):
        result = x + y
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output


class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        y = x**q
        ctx.save_for_backward(x, q, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, q, y = ctx.saved_tensors
        common = grad_output * y
        return common * q / x, common * torch.log(x)
