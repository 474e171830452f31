"""The gradients are right; the incoming one is written to by way of .data."""

from torch.autograd import Function


class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        second = grad_output * x
        grad_output.data.mul_(y)
        return grad_output.clone(), second
