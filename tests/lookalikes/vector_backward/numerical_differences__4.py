"""v goes through a list and comes back as float32; the product is close, and has half the digits."""

import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    weights = torch.tensor(v.tolist()).reshape(v.shape)
    return torch.autograd.grad(y, x, weights, retain_graph=True)[0]
