"""The sum is written into x."""

from torch.autograd import Function


class Add(Function):
    @staticmethod
    def forward(ctx, x, y):
        x += y
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output
