"""The first derivative is returned."""

import torch


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    y = f(x).sum()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    return gradient
