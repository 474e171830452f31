"""The product is divided by each factor."""

from torch.autograd import Function


class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        z = x * y
        ctx.save_for_backward(x, y, z)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        x, y, z = ctx.saved_tensors
        return grad_output * z / x, grad_output * z / y
