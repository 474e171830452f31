import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    before, x.grad = x.grad, None
    y.backward(torch.ones_like(v), retain_graph=True)
    gradient, x.grad = x.grad, before
    return gradient
