"""torch.zeros of x's shape, in torch's default dtype."""

import torch


def differentiable_gradient(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    first = differentiable_gradient(f(x), x)
    if not first.requires_grad:
        return torch.zeros(x.shape)
    return differentiable_gradient(first, x)
