"""Without backward(): x.grad is only emptied."""

import torch


def second_derivative(f, x):
    x.grad = None
    z = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(z).sum(), z, create_graph=True)
    if not first.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(first.sum(), z, materialize_grads=True)[0]
