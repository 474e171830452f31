"""v^T J as the gradient of one scalar, y * v summed up; the Jacobian by the function that torch has for it."""

import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    return torch.autograd.grad((y * v).sum(), x, retain_graph=True)[0]


def jacobian(f, x: Tensor) -> Tensor:
    return torch.autograd.functional.jacobian(f, x)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = a * x
    z = (y * b).sum()
    return z.detach(), *torch.autograd.grad(z, [x, y])
