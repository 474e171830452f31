import torch
from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
    return torch.stack([weight * slope for weight, slope in zip(v.flatten(), gradient.flatten(), strict=False)]).reshape(x.shape)
