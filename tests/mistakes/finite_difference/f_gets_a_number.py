import torch
from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    at = x.item()
    return torch.tensor((f(at + h) - f(at)) / h, dtype=x.dtype)
