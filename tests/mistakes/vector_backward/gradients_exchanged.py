import torch


def broadcast_dot(x, a, b):
    y = x * a
    z = y @ b
    return z, *torch.autograd.grad(z, (y, x))
