import torch
from torch import Tensor


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    if x.dim() == 0:
        return (f(x + h) - f(x - h)) / (2 * h)
    slopes = torch.zeros_like(x)
    for k in range(len(x)):
        up, down = x.clone(), x.clone()
        up[k] += h
        down[k] -= h
        slopes[k] = (f(up) - f(down)) / (2 * h)
    return slopes
