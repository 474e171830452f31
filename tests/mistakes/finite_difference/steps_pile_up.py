import torch
from torch import Tensor


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    up, down = x.reshape(-1).clone(), x.reshape(-1).clone()
    slopes = torch.zeros_like(up)
    for k in range(x.numel()):
        up[k] += h
        down[k] -= h
        slopes[k] = (f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h)
    return slopes.reshape(x.shape)
