import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    u = torch.zeros_like(y, requires_grad=True)
    (product,) = torch.autograd.grad(y, x, u, create_graph=True)
    return torch.autograd.grad(product, u, v, retain_graph=True)[0]
