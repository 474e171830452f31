"""The gradient of the mean, as in a loss."""

import torch


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).mean(), x, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()
