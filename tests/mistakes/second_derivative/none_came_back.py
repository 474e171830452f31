"""The last line has no return."""

import torch


def differentiable_gradient(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    first = differentiable_gradient(f(x), x)
    differentiable_gradient(first, x)
