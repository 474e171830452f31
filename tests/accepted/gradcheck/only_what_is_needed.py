"""Only the gradients that are asked for are computed; the others are None."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class FixedPow(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return torch.pow(x, q)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        grads = [None, None]
        if ctx.needs_input_grad[0]:
            grads[0] = torch.pow(x, q - 1).mul(q).mul(grad_output)
        if ctx.needs_input_grad[1]:
            grads[1] = torch.log(x).mul(torch.pow(x, q)).mul(grad_output)
        return tuple(grads)
