"""Dual numbers for the second differentiation: forward over reverse."""

import torch
import torch.autograd.forward_ad as forward


def pushed(function, x, direction):
    """The derivative of function at x along a direction."""
    with forward.dual_level():
        tangent = forward.unpack_dual(function(forward.make_dual(x, direction))).tangent
    return torch.zeros_like(x) if tangent is None else tangent


def gradient_function(f):
    def gradient(x):
        if not x.requires_grad:
            x = x.requires_grad_()
        return torch.autograd.grad(f(x).sum(), x, create_graph=True)[0]

    return gradient


def second_derivative(f, x):
    x = x.detach()
    return pushed(gradient_function(f), x, torch.ones_like(x)).detach()


def hessian(f, x):
    x = x.detach()
    return torch.stack([pushed(gradient_function(f), x, unit) for unit in torch.eye(len(x), dtype=x.dtype)]).detach()
