"""The central difference as the mean of a forward and a backward one, in fields of those names; a class can also do it by autograd."""

from typing import NamedTuple

import torch
from torch import Tensor


class Differences(NamedTuple):
    forward: Tensor
    backward: Tensor

    def central(self):
        return (self.forward + self.backward) / 2


class At:
    def __init__(self, fn, x, eps):
        self.fn, self.x, self.eps = fn, x, eps

    def along(self, k):
        step = torch.zeros(self.x.numel(), dtype=torch.float64)
        step[k] = self.eps
        step, here = step.reshape(self.x.shape), self.fn(self.x)
        return Differences((self.fn(self.x + step) - here) / self.eps, (here - self.fn(self.x - step)) / self.eps)

    def by_autograd(self):
        return torch.autograd.functional.jacobian(self.fn, self.x)


def numerical_jacobian(fn, x, eps=1e-6):
    with torch.no_grad():
        at = At(fn, x.detach().double(), eps)
        columns = [at.along(k).central().reshape(-1) for k in range(x.numel())]
        return torch.stack(columns, dim=1) if columns else torch.empty(fn(at.x).numel(), 0, dtype=torch.float64)
