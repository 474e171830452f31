"""One derivative of the other, and the graph that the second needs is freed by retain_graph=False; there are no rows."""

import torch


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True, retain_graph=False)
    if not first.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]
