"""What is divided is the other value of f than in a lost bracket, and the order is turned round as well."""

import torch
from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return f(x) - f(x + h) / h


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return f(x - h) - f(x + h) / (2 * h)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        step = torch.zeros_like(slopes)
        step[k] = h
        step = step.reshape(x.shape)
        slopes[k] = f(x - step) - f(x + step) / (2 * h)
    return slopes.reshape(x.shape)
