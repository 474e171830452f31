"""Asks whether the first derivative requires grad, not whether x is in its graph."""

import torch


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not first.requires_grad:
        return torch.zeros_like(x)
    (second,) = torch.autograd.grad(first.sum(), x)
    return second
