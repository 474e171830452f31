"""The mean is taken before the square."""

import torch


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (gradient.norm(dim=1).mean() - 1) ** 2
