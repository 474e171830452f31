"""The second argument is called t, and y is saved."""

from torch.autograd import Function


class Mul(Function):
    @staticmethod
    def forward(ctx, x, t):
        ctx.save_for_backward(x, y)  # noqa: F821
        return x * t

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x
