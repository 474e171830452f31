"""The size of the incoming gradient, without its sign."""

from torch.autograd import Function


class Add(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.abs(), grad_output.abs()
