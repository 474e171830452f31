"""Everything is computed in float64 and rounded once, at the end."""

import itertools

import torch
from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    wide = x.double()
    return ((f(wide + h) - f(wide)) / h).to(x.dtype)


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    wide = x.double()
    return ((f(wide + h) - f(wide - h)) / (2 * h)).to(x.dtype)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    wide = x.to(torch.float64, copy=True)
    slopes = torch.empty(x.shape, dtype=x.dtype)
    for index in itertools.product(*map(range, x.shape)):
        up, down = wide.clone(), wide.clone()
        up[index] += h
        down[index] -= h
        slopes[index] = (f(up) - f(down)) / (2 * h)
    return slopes
