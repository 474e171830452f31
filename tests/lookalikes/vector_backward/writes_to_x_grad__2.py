"""autograd.grad hands the gradient back, and a copy of it is stored in x.grad."""

import torch


def vjp(y, x, v):
    (g,) = torch.autograd.grad(y, x, v, retain_graph=True)
    x.grad = g.clone()
    return g
