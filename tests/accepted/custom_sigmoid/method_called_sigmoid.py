"""The arithmetic is a mixin's, whose method is called sigmoid; a try-out below goes by the name that an exception had above."""

import torch
from torch import Tensor


class Arithmetic:
    @staticmethod
    def sigmoid(x: Tensor) -> Tensor:
        try:
            small = torch.exp(-x.abs())
        except TypeError as error:
            raise ValueError(f"no tensor: {error}") from error
        return torch.where(x < 0, small, 1.0) / (1 + small)


class Sigmoid(Arithmetic, torch.autograd.Function):
    @classmethod
    def forward(cls, ctx, x):
        y = super().sigmoid(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)


error = (Arithmetic.sigmoid(torch.ones(3)) - torch.sigmoid(torch.ones(3))).abs().max()
