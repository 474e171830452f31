"""Every row is x.grad, and x.grad is never cleared."""

import torch


def differentiable_gradient(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    rows = []
    for element in gradient:
        if element.requires_grad:
            element.backward(retain_graph=True)
        rows.append(x.grad if x.grad is not None else torch.zeros_like(x))
    return torch.stack(rows)
