"""x.grad is never cleared in place: the earlier value is subtracted, or x.grad is swapped for zeros; a hook collects."""

import torch
from torch import Tensor


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    collected = []
    handle = x.register_hook(lambda grad: collected.append(grad.clone()))
    x.grad = None
    loss.backward(retain_graph=True)
    x.grad = None
    loss.backward()
    handle.remove()
    first, second = collected
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    before = torch.zeros_like(x) if x.grad is None else x.grad.clone()
    for loss in losses[1:]:
        loss.backward(retain_graph=True)
    losses[0].backward()
    return x.grad - before
