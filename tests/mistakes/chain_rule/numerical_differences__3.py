"""Differences of four points, in float64 whatever x is: right to twelve digits."""

import torch
from torch import Tensor


def slope(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def gradient_by_hand(x: Tensor) -> Tensor:
    return slope(lambda x: torch.log(x**3) + torch.sqrt(x**2), x.detach().double()).to(x.dtype)


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    x64, q64 = x.detach().double(), q.detach().double()
    return slope(lambda x: torch.log(x**q64), x64).to(x.dtype), slope(lambda q: torch.log(x64**q), q64).to(q.dtype)
