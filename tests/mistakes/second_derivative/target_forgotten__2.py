"""The distance is not squared."""

import torch


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (gradient.norm(dim=1) - 1).abs().mean()
