"""The class keeps the factors."""

from torch.autograd import Function


class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        Mul.factors = (x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = Mul.factors
        return grad_output * y, grad_output * x
