import torch
from torch import Tensor


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.shape, dtype=x.dtype)
    if x.dim() > 1:
        flat = x.flatten()
        return numerical_gradient(lambda t: f(t.reshape(x.shape)), flat, h).reshape(x.shape)
    for k in range(len(x)):
        step = torch.zeros_like(slopes)
        step[k] = h
        slopes[k] = (f(x + step) - f(x - step)) / (2 * h)
    return slopes
