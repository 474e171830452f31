"""All one-hot vectors in one pass; a product that can be differentiated once more."""

import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    return torch.autograd.grad(outputs=[y], inputs=[x], grad_outputs=[v], create_graph=True)[0]


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    shape = (*y.shape, *x.shape)
    if not y.requires_grad:
        return torch.zeros(shape, dtype=x.dtype)
    units = torch.eye(y.numel(), dtype=y.dtype).reshape(y.numel(), *y.shape)
    (rows,) = torch.autograd.grad(y, x, units, is_grads_batched=True, allow_unused=True)
    return torch.zeros(shape, dtype=x.dtype) if rows is None else rows.reshape(shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = torch.mul(x, a)
    z = torch.dot(y, b)
    (dz_dy,) = torch.autograd.grad(z, y, retain_graph=True)
    (dz_dx,) = torch.autograd.grad(z, x)
    return z, dz_dx, dz_dy
