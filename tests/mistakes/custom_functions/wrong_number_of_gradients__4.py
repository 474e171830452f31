"""A list of two, which counts as one."""

from torch.autograd import Function


class Add(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad_output):
        return [grad_output, grad_output]
