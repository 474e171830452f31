from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    step = 1e-3
    return (f(x + step) - f(x)) / step


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x + h / 2) - f(x - h / 2)) / h
