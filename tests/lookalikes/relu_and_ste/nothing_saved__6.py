"""x is saved and unpacked, one line after it is used."""

import torch


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        grad = grad_output * (x > 0)
        (x,) = ctx.saved_tensors
        return grad
