"""Gradients gathered and added at the end; data of x.grad filled with zeros; a detached copy returned."""

from functools import reduce
from operator import add

import torch
from torch import Tensor


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(torch.ones_like(loss), retain_graph=True)
    loss.backward(torch.ones_like(loss))
    return x.grad.data


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    def gradient(keep: bool) -> Tensor:
        x.grad = None
        loss.backward(retain_graph=keep)
        result, x.grad = x.grad, None
        return result

    first = gradient(True)
    second = gradient(False)
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    gradients = []
    for loss in losses:
        if x.grad is not None:
            x.grad.data.fill_(0)
        loss.backward(retain_graph=loss is not losses[-1])
        gradients.append(torch.empty_like(x.grad).copy_(x.grad))
    return reduce(add, gradients)
