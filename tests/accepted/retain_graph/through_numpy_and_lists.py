"""Gradients noted outside of torch and made tensors again."""

import torch
from torch import Tensor


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = torch.from_numpy(x.grad.numpy().copy())
    x.grad = None
    loss.backward()
    second = torch.tensor(x.grad.tolist(), dtype=x.dtype)
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    remaining = len(losses)
    for loss in reversed(losses):
        remaining -= 1
        loss.backward(retain_graph=remaining > 0)
    return torch.from_numpy(x.grad.numpy().copy())
