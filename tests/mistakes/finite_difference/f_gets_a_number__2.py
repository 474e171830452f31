import torch
from torch import Tensor


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    flat = x.numpy().copy().ravel()
    slopes = torch.zeros_like(x).reshape(-1)
    for k in range(x.numel()):
        up, down = flat.copy(), flat.copy()
        up[k] += h
        down[k] -= h
        slopes[k] = (f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h)
    return slopes.reshape(x.shape)
