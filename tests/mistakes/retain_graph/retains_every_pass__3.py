import torch
from torch import Tensor


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    first = torch.autograd.grad(loss, x, create_graph=True)[0]
    second = torch.autograd.grad(loss, x, create_graph=True)[0]
    return first, second
