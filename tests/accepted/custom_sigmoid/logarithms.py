"""exp of -log(1 + exp(-x)), by logaddexp."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(-torch.logaddexp(torch.zeros_like(x), -x))
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        other = torch.exp(-torch.logaddexp(torch.zeros_like(x), x))
        return grad_output * y * other
