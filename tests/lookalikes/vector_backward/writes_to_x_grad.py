"""autograd.grad hands the gradient back; x.grad is cleared before, for no reason."""

import torch


def vjp(y, x, v):
    x.grad = None
    return torch.autograd.grad(y, x, v, retain_graph=True)[0]
