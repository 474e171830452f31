"""A function that nobody calls compares with torch's own, which it imports under names that the file uses for others."""

import torch
from torch.autograd import grad


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    for _ in range(2):
        (y,) = grad(y.sum(), x, create_graph=True, allow_unused=True) if y.requires_grad else (None,)
        y = torch.zeros_like(x) if y is None else y
    return y


def compare(f, x):
    from torch.func import grad

    return grad(grad(f))(x) - second_derivative(f, x)
