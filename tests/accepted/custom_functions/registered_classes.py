"""Each class enters itself under its sign, and a sign may be taken once; the axes to sum over are NumPy's, kept on ctx."""

import numpy as np
from torch.autograd import Function


class Operation(Function):
    table = {}

    def __init_subclass__(cls):
        super().__init_subclass__()
        if cls.sign in Operation.table:
            raise ValueError(f"{cls.sign} is taken")
        Operation.table[cls.sign] = cls


class Add(Operation):
    sign = "+"

    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output


class Mul(Operation):
    sign = "*"

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x


def repeated(small, large):
    """Axes of the large shape along which the small one was repeated."""
    whole = np.array((1,) * (len(large) - len(small)) + tuple(small), dtype=int)
    return np.flatnonzero(whole != np.array(large, dtype=int))


class BroadcastMul(Operation):
    sign = "x"

    @staticmethod
    def forward(ctx, x, y):
        z = x * y
        ctx.save_for_backward(x, y)
        ctx.axes = repeated(x.shape, z.shape), repeated(y.shape, z.shape)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        first, second = ctx.axes
        products = (grad_output * y, first, x), (grad_output * x, second, y)
        return tuple((g.sum(tuple(axes.tolist())) if axes.size else g).reshape(t.shape) for g, axes, t in products)
