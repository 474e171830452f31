"""One function that knows every way, the exact one too, of which the three that were asked for are two."""

import torch
from torch import Tensor


def derivative(f, x: Tensor, h: float, kind: str) -> Tensor:
    if kind == "forward":
        return (f(x + h) - f(x)) / h
    if kind == "central":
        return (f(x + h) - f(x - h)) / (2 * h)
    leaf = x.detach().clone().requires_grad_()  # to compare with, at the bottom of the file
    return torch.autograd.grad(f(leaf), leaf)[0]


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return derivative(f, x, h, "forward")


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return derivative(f, x, h, "central")


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    result = torch.empty_like(x)
    for index in torch.ones(x.shape).nonzero().tolist():
        place = tuple(index)

        def along(value, place=place):
            moved = x.clone()
            moved[place] = value
            return f(moved)

        result[place] = derivative(along, x[place], h, "central")
    return result
