import torch
from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return f(x + h) - f(x) / h


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return f(x + h) - f(x - h)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    rows = torch.eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape) * h
    return -torch.tensor([float(f(x + row) - f(x - row)) / (2 * h) for row in rows], dtype=x.dtype).reshape(x.shape)
