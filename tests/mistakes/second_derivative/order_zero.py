"""The first derivative is taken before the loop begins."""

import torch


def differentiable_gradient(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("negative order")
    x = x.detach().requires_grad_()
    if n == 0:
        return x
    derivative = differentiable_gradient(f(x), x)
    for _ in range(n - 1):
        derivative = differentiable_gradient(derivative, x)
    return derivative
