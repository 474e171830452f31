"""One base class, whose slope the others fill in; apply is wrapped."""

import torch
from torch.autograd import Function


class Elementwise(Function):
    @classmethod
    def of(cls, x):
        return cls.apply(x)

    @staticmethod
    def slope(x):
        return torch.ones_like(x)

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.ceil(torch.sign(x).clamp(0, 1))

    @classmethod
    def backward(cls, ctx, grad_output):
        return grad_output * cls.slope(*ctx.saved_tensors)


class MyReLU(Elementwise):
    @staticmethod
    def slope(x):
        return (x >= 0).type(x.dtype)

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.threshold(x, 0, 0)


class STE(Elementwise):
    pass


class ClippedSTE(Elementwise):
    @staticmethod
    def slope(x):
        return torch.where(x.abs() > 1, 0.0, 1.0)


def relu(x):
    return MyReLU.of(x)


def binarize(x):
    return STE.of(x)
