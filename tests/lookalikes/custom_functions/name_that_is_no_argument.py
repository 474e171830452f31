"""What is used is saved, and unpacked one line too late."""

from torch.autograd import Function


class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        grads = grad_output * y, grad_output * x
        x, y = ctx.saved_tensors
        return grads
