import torch
from torch import Tensor


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    moved = x.reshape(-1).clone()
    slopes = torch.zeros_like(moved)
    for k in range(x.numel()):
        moved[k] += h
        up = f(moved.reshape(x.shape))
        moved[k] -= 2 * h
        slopes[k] = (up - f(moved.reshape(x.shape))) / (2 * h)
    return slopes.reshape(x.shape)
