"""retain_graph where create_graph is needed."""

import torch


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    y = f(x).sum()
    (first,) = torch.autograd.grad(y, x, retain_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return second
