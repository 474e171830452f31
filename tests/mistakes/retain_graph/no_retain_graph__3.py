import torch
from torch import Tensor


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    (first,) = torch.autograd.grad(loss, x)
    (second,) = torch.autograd.grad(loss, x, retain_graph=True)
    return first, second
