"""The 1-norm."""

import torch


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return ((gradient.abs().sum(dim=1) - 1) ** 2).mean()
