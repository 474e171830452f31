"""The same, with clones."""

from torch.autograd import Function


class Pow(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return x**q

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone(), grad_output.clone()
