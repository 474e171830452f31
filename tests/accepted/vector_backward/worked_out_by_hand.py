"""The gradients of the dot product as formulas; the Jacobian from torch.autograd.functional.vjp."""

import torch
from torch import Tensor


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return (x * a) @ b, a @ b, b


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x).detach()
    result = torch.zeros(y.shape + x.shape, dtype=x.dtype)
    rows = result.view(y.numel(), *x.shape)
    for k in range(y.numel()):
        unit = torch.zeros(y.numel(), dtype=y.dtype)
        unit[k] = 1
        rows[k] = torch.autograd.functional.vjp(f, x, unit.view(y.shape))[1]
    return result
