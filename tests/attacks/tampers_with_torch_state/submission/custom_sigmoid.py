"""Enters a torch function mode that it never leaves, and that turns every result into NaN."""

import torch

from torch.overrides import TorchFunctionMode


class Poison(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result * float("nan") if isinstance(result, torch.Tensor) and result.is_floating_point() and func is torch.exp else result


Poison().__enter__()


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 0


def sigmoid(x):
    return x
