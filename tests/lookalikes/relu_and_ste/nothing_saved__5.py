"""The mask is a tuple by a comma at the end of its line; what was saved is unpacked."""

import torch


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        mask = ((x > 0).to(x.dtype),)
        return mask.mul(grad_output)
