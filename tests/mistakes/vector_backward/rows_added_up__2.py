import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    x.grad = torch.zeros_like(x)
    if y.requires_grad:
        y.sum().backward()
    return x.grad.expand(y.shape + x.shape)
