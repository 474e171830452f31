"""Without grad_output, and the two factors exchanged as well."""

from torch.autograd import Function


class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.saved_tensors
