"""Asks whether the gradient has a grad_fn, not whether x is in its graph."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, create_graph=True)[0]
    if gradient.grad_fn is None and not gradient.requires_grad:
        return torch.zeros(len(x), len(x), dtype=x.dtype)
    return torch.stack([torch.autograd.grad(g, x, retain_graph=True)[0] for g in gradient])
