"""Nothing is divided: the derivative of a square root has no value at 0."""

import torch


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            z = x.detach().requires_grad_()
            y = 0.5 * (z + (z * z).sqrt())
        return torch.autograd.grad(y, z, grad_output)[0]
