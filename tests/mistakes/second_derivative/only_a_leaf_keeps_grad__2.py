"""The caller's .grad is set aside and put back; an x that is no leaf has none."""

import torch


def differentiable_gradient(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def hessian(f, x):
    x = x if x.requires_grad else x.detach().requires_grad_()
    held = None if x.grad is None else x.grad.clone()
    x.grad = None
    f(x).backward(create_graph=True)
    gradient = x.grad
    rows = [differentiable_gradient(gradient[k], x) for k in range(gradient.numel())]
    x.grad = held
    return torch.stack(rows)
