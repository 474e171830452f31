"""It is a shape that is unpacked into too many names."""

import torch


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        rows, columns = grad_output.shape
        return (grad_output * (x > 0)).reshape(rows, columns)
