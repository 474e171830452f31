"""vjp of autograd.functional makes the leaf; a decorator switches the recording off."""

import torch
from torch import Tensor


@torch.no_grad()
def predict(f, x: Tensor) -> Tensor:
    return f(x)


@torch.no_grad()
def cut(y: Tensor) -> Tensor:
    return y.clone()


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    _, at_w = torch.autograd.functional.vjp(second, y)
    _, at_x = torch.autograd.functional.vjp(first, x, at_w)
    return at_x, at_w


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    difference = online - cut(target)
    return torch.mean(difference * difference)
