"""apply is called, and x left out; another class uses a forward."""

import torch


class ClippedSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return STE.forward(ctx, x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() <= 1)


def relu(x):
    return MyReLU.apply()
