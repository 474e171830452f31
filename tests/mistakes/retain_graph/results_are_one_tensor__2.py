import torch
from torch import Tensor


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = torch.zeros_like(x)
    results = []
    for keep in (True, False):
        x.grad.zero_()
        loss.backward(retain_graph=keep)
        results.append(x.grad.detach())
    return results[0], results[1]
