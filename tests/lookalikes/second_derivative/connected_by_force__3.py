"""create_graph=True is there; the gradient is detached afterwards, and zeros are made of what is missing."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, create_graph=True)[0].detach().requires_grad_()
    return torch.stack([torch.autograd.grad(g, x, retain_graph=True, allow_unused=True, materialize_grads=True)[0] for g in gradient])
