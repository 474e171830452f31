"""Both halves by logaddexp; the second derivative is not asked for."""

import torch


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.exp(-torch.logaddexp(torch.zeros_like(x), -x))
        ctx.save_for_backward(y, x)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        y, x = ctx.saved_tensors
        with torch.no_grad():
            other = torch.exp(-torch.logaddexp(torch.zeros_like(x), x))
        print(other.shape)
        return grad_output * y * other


def sigmoid(x, *, debug=False):
    if debug:
        print(x)
    return Sigmoid.apply(x)
