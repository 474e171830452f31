"""Adds 0 * x, so that every derivative has x in its graph."""

import torch


def slope(y, x):
    return torch.autograd.grad((y + 0 * x).sum(), x, create_graph=True)[0]


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    return slope(slope(f(x), x), x)


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("negative order")
    x = x.detach().requires_grad_()
    result = f(x)
    for _ in range(n):
        result = slope(result, x)
    return result


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, create_graph=True)[0] + 0 * x
    matrix = []
    for g in gradient.unbind():
        matrix.append(torch.autograd.grad(g, x, retain_graph=True)[0])
    return torch.stack(matrix)
