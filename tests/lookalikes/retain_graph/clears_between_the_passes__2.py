"""Each gradient takes the place of the one before; nothing is cleared."""

import torch


def backward_twice(loss, x):
    x.grad = torch.autograd.grad(loss, x, retain_graph=True)[0]
    x.grad = torch.autograd.grad(loss, x)[0]
    return x.grad
