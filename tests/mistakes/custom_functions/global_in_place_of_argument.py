"""The second argument is called t, and a global y is saved and used in its place."""

import torch
from torch.autograd import Function

y = torch.tensor([4.0, 5.0, 6.0], dtype=torch.float64)


class Mul(Function):
    @staticmethod
    def forward(ctx, x, t):
        ctx.save_for_backward(x, y)
        return x * t

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x
