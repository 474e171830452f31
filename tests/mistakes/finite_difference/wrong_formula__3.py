"""A slope is taken for steepness: where f falls, the sign is missing."""

from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return abs(f(x + h) - f(x)) / h


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return abs(f(x + h) - f(x - h)) / (2 * h)
