"""A table has each class's value and slope, and one base class looks its class up; binarize clamps what is in range already."""

import torch

RULES = {}


def rule(value, slope):
    def enter(cls):
        RULES[cls] = value, slope
        return cls

    return enter


class Pointwise(torch.autograd.Function):
    @classmethod
    def forward(cls, ctx, x):
        ctx.save_for_backward(x)
        value, _ = RULES[cls]
        return value(x)

    @classmethod
    def backward(cls, ctx, grad_output):
        (x,) = ctx.saved_tensors
        _, slope = RULES[cls]
        return grad_output * slope(x)


def step(x):
    return x.gt(0).to(x.dtype)


@rule(lambda x: x.clamp(min=0), step)
class MyReLU(Pointwise):
    pass


@rule(step, torch.ones_like)
class STE(Pointwise):
    pass


@rule(step, lambda x: x.abs().le(1))
class ClippedSTE(Pointwise):
    pass


def binarize(x):
    return STE.apply(x).clamp(0, 1)
