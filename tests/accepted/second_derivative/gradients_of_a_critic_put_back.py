"""By backward, which would add to the .grad of a critic's parameters: they are kept and put back. A function has none."""

import contextlib

import torch


@contextlib.contextmanager
def gradients_kept(f):
    parameters = list(f.parameters()) if hasattr(f, "parameters") else []
    before = [parameter.grad for parameter in parameters]
    for parameter in parameters:
        parameter.grad = None
    try:
        yield
    finally:
        for parameter, gradient in zip(parameters, before, strict=True):
            parameter.grad = gradient


def slope(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    x.grad = None
    y.sum().backward(create_graph=True, inputs=[x])
    gradient, x.grad = x.grad, None
    return torch.zeros_like(x) if gradient is None else gradient


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(f"order {n} of {f.__qualname__}")
    with gradients_kept(f):
        x = x.detach().clone().requires_grad_()
        y = f(x)
        for _ in range(n):
            y = slope(y, x)
        return y


def second_derivative(f, x):
    return nth_derivative(f, x, 2)
