"""Numbers out to Python lists and back into tensors of the right dtype."""

import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    rows = [torch.autograd.grad(element, x, retain_graph=True)[0].reshape(-1) for element in y.reshape(-1)]
    if not rows:
        return torch.zeros_like(x)
    return (v.reshape(-1) @ torch.stack(rows)).reshape(x.shape)


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    rows = []
    for element in y.flatten():
        row = None
        if element.requires_grad:
            (row,) = torch.autograd.grad(element, x, retain_graph=True, allow_unused=True)
        rows.append([0.0] * x.numel() if row is None else row.flatten().tolist())
    return torch.tensor(rows, dtype=x.dtype).reshape(y.shape + x.shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    z = y @ b
    dz_dy = torch.tensor(b.tolist(), dtype=b.dtype)
    dz_dx = torch.tensor(sum(p * q for p, q in zip(a.tolist(), b.tolist(), strict=True)), dtype=x.dtype)
    return (z, dz_dx, dz_dy)
