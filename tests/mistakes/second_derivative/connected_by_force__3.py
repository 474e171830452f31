"""retain_graph for create_graph, and zeros wherever a gradient has no graph."""

import torch


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().requires_grad_()
    y = f(x)
    for _ in range(n):
        if not y.requires_grad:
            return torch.zeros_like(x)
        (y,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    return y
