"""An import that is left over from comparing, and a variable of the same name."""

# ruff: noqa: F401, F811
import torch
from torch.autograd.functional import hessian
from torch.func import grad


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (grad,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if grad.requires_grad:
        (grad,) = torch.autograd.grad(grad.sum(), x, materialize_grads=True)
        return grad
    return torch.zeros_like(x)


def hessian(f, x):
    x = x.detach().requires_grad_()
    grad = torch.autograd.grad(f(x), x, create_graph=True)[0]
    if not grad.requires_grad:
        return x.new_zeros(len(x), len(x))
    return torch.stack([torch.autograd.grad(e, x, retain_graph=True, materialize_grads=True)[0] for e in grad])


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().requires_grad_()
    y = f(x)
    for _ in range(n):
        if not y.requires_grad:
            return torch.zeros_like(x)
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)
    return y
