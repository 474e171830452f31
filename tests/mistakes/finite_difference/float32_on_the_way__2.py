import torch
from torch import Tensor


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.numel())
    for k in range(x.numel()):
        step = torch.eye(x.numel(), dtype=x.dtype)[k].reshape(x.shape) * h
        slopes[k] = (f(x + step) - f(x - step)) / (2 * h)
    return slopes.reshape(x.shape)
