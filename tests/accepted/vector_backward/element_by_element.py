"""One gradient for each element, weighed and added up; f is run anew for each row."""

import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    total = torch.zeros_like(x)
    for weight, element in zip(v.flatten(), y.flatten(), strict=True):
        total = total + weight * torch.autograd.grad(element, x, retain_graph=True)[0]
    return total


def jacobian(f, x: Tensor) -> Tensor:
    shape = f(x).shape
    rows = []
    for k in range(shape.numel()):
        try:
            (row,) = torch.autograd.grad(f(x).reshape(-1)[k], x)
        except RuntimeError:
            row = torch.zeros_like(x)
        rows.append(row)
    return torch.cat([row.reshape(-1) for row in rows]).reshape(shape + x.shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = torch.stack([x * factor for factor in a]) if len(a) else x * a
    z = sum((left * right for left, right in zip(y, b, strict=True)), x * 0)
    dz_dx, dz_dy = torch.autograd.grad(z, (x, y), allow_unused=True)
    return z, dz_dx, torch.zeros_like(y) if dz_dy is None else dz_dy
