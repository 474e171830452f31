"""torch.autograd.grad in place of backward; x.grad is written by hand where it is promised to hold the sum."""

import torch
from torch import Tensor


def second_backward_error(x: Tensor) -> str:
    z = (x**3).log()
    torch.autograd.grad(z, x)
    try:
        torch.autograd.grad(z, x)
    except RuntimeError as error:
        return error.args[0]


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    (first,) = torch.autograd.grad(loss, x, retain_graph=True)
    (second,) = torch.autograd.grad(loss, x)
    x.grad = first + second if x.grad is None else x.grad + first + second
    return x.grad


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.autograd.grad(loss, x, retain_graph=True) + torch.autograd.grad(loss, x)


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    last = len(losses) - 1
    return sum(torch.autograd.grad(loss, x, retain_graph=k < last)[0] for k, loss in enumerate(losses))
