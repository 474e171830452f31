"""The loop goes on after a derivative has become constant."""

import torch


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().clone().requires_grad_(True)
    result = f(x)
    for _ in range(n):
        result = torch.autograd.grad(result, x, grad_outputs=torch.ones_like(result), create_graph=True)[0]
    return result
