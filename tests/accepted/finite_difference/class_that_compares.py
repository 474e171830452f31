"""A class holds f and h; another method of it compares with autograd, and a function below imports what the file calls its own."""

import itertools

import torch


class Slope:
    def __init__(self, f, h):
        self.f, self.h = f, h

    def grad(self, x):
        x = x.detach().clone()
        out = torch.empty_like(x)
        for place in itertools.product(*map(range, x.shape)):
            step = torch.zeros_like(x)
            step[place] = self.h
            out[place] = (self.f(x + step) - self.f(x - step)) / (2 * self.h)
        return out

    def error(self, x):
        x = x.detach().requires_grad_()
        return (self.grad(x) - torch.autograd.grad(self.f(x), x)[0]).abs().max()


def numerical_gradient(f, x, h=1e-5):
    with torch.no_grad():
        return Slope(f, h).grad(x)


def compare(f, x):
    from torch.func import grad as numerical_gradient

    return numerical_gradient(f)(x)
