"""The right value, from a gradient without a graph."""

import torch


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, retain_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()
