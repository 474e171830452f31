"""An optimizer's zero_grad clears; results are made new by arithmetic."""

import torch
from torch import Tensor


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    optimizer = torch.optim.SGD([x], lr=0.1)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    first = x.grad + 0
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    second = 1 * x.grad
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    torch.optim.SGD([x], lr=0.1).zero_grad(set_to_none=False)
    for index in range(len(losses)):
        losses[index].backward(retain_graph=index < len(losses) - 1)
    return x.grad
