"""requires_grad_() against the error about grad_fn."""

import torch


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)
    x = x.detach().clone().requires_grad_()
    y = f(x)
    for _ in range(n):
        y = torch.autograd.grad(y.sum(), x, retain_graph=True)[0].requires_grad_()
    return y
