"""A shape is unpacked into too many names."""

from torch.autograd import Function


class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        rows, columns = grad_output.shape
        return grad_output * y, grad_output * x
