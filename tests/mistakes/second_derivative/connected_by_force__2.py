"""A new leaf of the gradient's values, and zeros for what is not connected."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, retain_graph=True)[0].clone().requires_grad_(True)
    rows = [torch.autograd.grad(g, x, retain_graph=True, materialize_grads=True)[0] for g in gradient]
    return torch.stack(rows)
