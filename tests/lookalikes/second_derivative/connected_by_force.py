"""A detached copy of x, and zeros wherever that leaves no graph."""

import torch


def second_derivative(f, x):
    x = x.detach()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    if not g.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(g.sum(), x, allow_unused=True, materialize_grads=True)[0]
