import torch
from torch import Tensor


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    total = torch.zeros_like(x) if x.grad is None else x.grad.clone()
    for keep in (True, False):
        total = total + torch.autograd.grad(loss, x, retain_graph=keep)[0]
    return total
