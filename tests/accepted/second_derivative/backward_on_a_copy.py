"""backward(create_graph=True) on a leaf of one's own, whose .grad is cleared between the passes."""

import torch


def gradient_of(y, x):
    x.grad = None
    if y.requires_grad:
        y.backward(torch.ones_like(y), create_graph=True, inputs=[x])
    return torch.zeros_like(x) if x.grad is None else x.grad


def second_derivative(f, x):
    own = x.detach().clone().requires_grad_(True)
    return gradient_of(gradient_of(f(own), own), own).detach()


def nth_derivative(f, x, n):
    if not n >= 0:
        raise ValueError
    own = x.detach().clone().requires_grad_(True)
    result = f(own)
    while n:
        result, n = gradient_of(result, own), n - 1
    return result.detach()


def hessian(f, x):
    own = x.detach().clone().requires_grad_(True)
    gradient = gradient_of(f(own), own)
    matrix = own.new_zeros(len(x), len(x)).detach()
    for row in range(len(x)):
        matrix[row] = gradient_of(gradient[row], own).detach()
    return matrix


def gradient_penalty(f, x):
    own = x.detach().clone().requires_grad_(True)
    f(own).sum().backward(create_graph=True)
    return torch.mean(torch.square(torch.linalg.vector_norm(own.grad, dim=-1) - 1.0))
