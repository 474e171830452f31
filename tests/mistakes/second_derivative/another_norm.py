"""The root is missing."""

import torch


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (((gradient**2).sum(dim=1) - 1) ** 2).mean()
