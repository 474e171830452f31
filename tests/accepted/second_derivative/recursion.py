"""The derivative as a function of functions, applied n times."""

import torch


def derivative_of(f):
    def derivative(x):
        y = f(x)
        if not y.requires_grad:
            return torch.zeros_like(x)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True, allow_unused=True)
        return torch.zeros_like(x) if g is None else g

    return derivative


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(f"expected n >= 0, got {n}")
    if n == 0:
        return f(x)
    if n > 1:
        return nth_derivative(derivative_of(f), x, n - 1)
    return derivative_of(f)(x.detach().requires_grad_())


def second_derivative(f, x):
    return nth_derivative(f, x, 2)


def hessian(f, x):
    x = x.detach().requires_grad_()
    return torch.stack([derivative_of(lambda x, i=i: derivative_of(f)(x)[i])(x) for i in range(len(x))])
