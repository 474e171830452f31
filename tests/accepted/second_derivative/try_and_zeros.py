"""Tries, and takes "does not require grad" and "not used" for a derivative of zero."""

import torch


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    g = torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)[0]
    try:
        return torch.autograd.grad(g, x, grad_outputs=torch.ones_like(g))[0]
    except RuntimeError:
        return torch.zeros_like(x)


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(f"n = {n} is negative")
    x = x.detach().requires_grad_()
    y = f(x)
    try:
        for _ in range(n):
            y = torch.autograd.grad(y.sum(), [x], create_graph=True)[0]
    except RuntimeError:
        return torch.zeros_like(x)
    return y


def hessian(f, x):
    x = x.detach().requires_grad_()
    g = torch.autograd.grad(f(x), x, create_graph=True)[0]
    try:
        return torch.stack([torch.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(x.numel())])
    except RuntimeError:
        return torch.zeros(x.numel(), x.numel(), dtype=x.dtype)
