import torch
from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    ahead = torch.tensor(x.item() + h)
    return (f(ahead) - f(x)) / h


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return torch.tensor(((f(x + h) - f(x - h)) / (2 * h)).item())
