"""The outer product of the gradient with itself."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x)
    return torch.outer(gradient, gradient)
