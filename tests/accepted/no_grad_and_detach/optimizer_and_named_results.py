"""An optimizer clears x.grad; the results have names; a class holds the mode."""

from typing import NamedTuple

import torch
from torch import Tensor


class Gradients(NamedTuple):
    at_x: Tensor
    at_w: Tensor


class Recording:
    def __init__(self, on):
        self.on = on

    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch._C._set_grad_enabled(self.on)

    def __exit__(self, *what):
        torch._C._set_grad_enabled(self.before)


def predict(f, x: Tensor) -> Tensor:
    with Recording(False):
        return f(x)


def cut(y: Tensor) -> Tensor:
    with Recording(False):
        return 1 * y


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.data
    w.requires_grad = True
    second(w).backward()
    torch.optim.SGD([x], lr=1.0).zero_grad()
    y.backward(w.grad)
    return Gradients(x.grad.clone(), w.grad.clone())


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    fixed = target.detach().requires_grad_(False)
    return torch.linalg.vector_norm(online - fixed) ** 2 / online.numel()
