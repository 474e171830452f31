"""The tuple is handed to torch as a tensor."""

import torch


def differentiable_gradient(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    rows = [torch.autograd.grad(g, x, retain_graph=True, materialize_grads=True) for g in gradient]
    return torch.stack(rows)
