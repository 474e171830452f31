"""Formulas, and beside them what autograd would say, for whoever sets DEBUG."""

import torch
from torch import Tensor

DEBUG = False


def by_autograd(f, *inputs: Tensor) -> tuple[Tensor, ...]:
    leaves = [one.detach().clone().requires_grad_() for one in inputs]
    return torch.autograd.grad(f(*leaves).sum(), leaves)


def gradient_by_hand(x: Tensor) -> Tensor:
    result = 3 / x + x / torch.sqrt(x**2)
    if DEBUG:
        print(result, by_autograd(lambda x: torch.log(x**3) + torch.sqrt(x**2), x))
    return result


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    result = q / x, torch.log(x)
    if DEBUG:
        print(result, torch.func.grad(lambda x: torch.log(x**q).sum())(x))
    return result
