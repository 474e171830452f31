"""A single zero where a matrix of them is promised."""

import torch


def differentiable_gradient(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    if not gradient.requires_grad:
        return torch.tensor(0.0)
    return torch.stack([differentiable_gradient(element, x) for element in gradient])
