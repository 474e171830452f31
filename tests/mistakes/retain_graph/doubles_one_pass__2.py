import torch
from torch import Tensor


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(gradient=torch.full_like(loss, 2.0))
    return x.grad
