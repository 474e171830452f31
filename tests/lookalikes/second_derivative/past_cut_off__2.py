"""The first gradient is asked with respect to an x that f was not called with."""

import torch


def second_derivative(f, x):
    y = f(x.detach().requires_grad_())
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]
