"""Divides by the distance that the points really have, as the source's program does; the copy is put back by its saved value."""

import torch
from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    x2 = x + h
    z, z2 = f(x), f(x2)
    return (z2 - z) / (x2 - x)


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    x1, x2 = x - h, x + h
    return (f(x2) - f(x1)) / (x2 - x1)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    x = x.clone(memory_format=torch.contiguous_format)
    gradient = torch.zeros_like(x)
    flat, slopes = x.view(-1), gradient.view(-1)
    for k in range(flat.numel()):
        start = flat[k].item()
        flat[k] = start + h
        up = f(x)
        flat[k] = start - h
        down = f(x)
        flat[k] = start
        slopes[k] = (up - down) / (2 * h)
    return gradient
