"""A comma after the value that is returned."""

import torch


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x).sum(), x, create_graph=True)[0]
    return (((gradient.norm(dim=1) - 1) ** 2).mean(),)
