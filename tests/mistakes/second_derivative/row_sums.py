"""The elementwise trick on a function that is not elementwise."""

import torch


def differentiable_gradient(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return differentiable_gradient(gradient.sum(), x)
