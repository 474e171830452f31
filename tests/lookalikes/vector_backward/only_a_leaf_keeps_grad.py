"""It is the .grad of b that is read, where that of y is meant."""

import torch


def broadcast_dot(x, a, b):
    y = x * a
    z = y @ b
    (dx,) = torch.autograd.grad(z, x)
    return z, dx, b.grad
