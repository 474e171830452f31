"""range(n) is empty for a negative n."""

import torch


def differentiable_gradient(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def nth_derivative(f, x, n):
    x = x.detach().requires_grad_()
    derivative = f(x)
    for _ in range(n):
        derivative = differentiable_gradient(derivative, x)
    return derivative
