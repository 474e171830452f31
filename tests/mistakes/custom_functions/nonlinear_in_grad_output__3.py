"""Only the sign of what comes in is used."""

import torch


class Mul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        sign = torch.sign(grad_output)
        return sign * y, sign * x
