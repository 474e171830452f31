"""Works on the caller's x itself, which requires grad from then on; torch.autograd.grad writes to no .grad."""

import torch


def slope(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def second_derivative(f, x):
    x.requires_grad_(True)
    return slope(slope(f(x), x), x)


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n")
    x.requires_grad_(True)
    y = f(x)
    for _ in range(n):
        y = slope(y, x)
    return y


def hessian(f, x):
    x.requires_grad_(True)
    g = slope(f(x), x)
    return torch.stack([slope(g[i], x) for i in range(g.shape[0])], dim=1)


def gradient_penalty(f, x):
    if not x.requires_grad:
        x.requires_grad_()
    g = slope(f(x), x)
    return (g.norm(2, dim=1) - 1).pow(2).mean()
