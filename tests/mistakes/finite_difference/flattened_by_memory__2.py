import torch
from torch import Tensor


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.numel(), dtype=x.dtype)
    moved = x.clone()
    flat = moved.reshape(-1)
    for k in range(x.numel()):
        start = flat[k].item()
        flat[k] = start + h
        up = f(moved)
        flat[k] = start - h
        down = f(moved)
        flat[k] = start
        slopes[k] = (up - down) / (2 * h)
    return slopes.reshape(x.shape)
