"""backward with x.grad swapped out for a while; y.retain_grad()."""

import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    before, x.grad = x.grad, None
    y.backward(v, retain_graph=True)
    gradient, x.grad = x.grad, before
    return gradient


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    rows = []
    for k in range(y.numel()):
        x.grad = None
        if y.requires_grad:
            y.flatten()[k].backward(retain_graph=True)
        rows.append(torch.zeros_like(x) if x.grad is None else x.grad.clone())
    return torch.stack(rows).view(y.shape + x.shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    x.grad = None
    y = x * a
    y.retain_grad()
    z = y @ b
    z.backward()
    return z, x.grad, y.grad
