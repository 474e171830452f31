"""torch.gradient differentiates the samples; partial derivatives come from a generator of pairs."""

import torch
from torch import Tensor


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    samples = torch.stack([f(x - h), f(x), f(x + h)])
    return torch.gradient(samples, spacing=h)[0][1]


def pairs(x: Tensor, h: float):
    for k in range(x.numel()):
        flat = x.flatten()
        high, low = flat.clone(), flat.clone()
        high[k] += h
        low[k] -= h
        yield high.view(x.shape), low.view(x.shape)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    if not x.dim():
        return central_difference(f, x, h)
    return torch.tensor([(f(high) - f(low)).item() / (2 * h) for high, low in pairs(x, h)], dtype=x.dtype).reshape(x.shape)
