"""f is called under no_grad, so the value has no graph."""

import torch


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    with torch.no_grad():
        y = f(x)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]
