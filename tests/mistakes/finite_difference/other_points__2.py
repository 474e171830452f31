from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x + h) - f(x - h)) / (2 * h)
