"""The squared norms, without their distance from 1."""

import torch


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (gradient.norm(dim=1) ** 2).mean()
