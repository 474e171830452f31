import torch
from torch import Tensor


def gradient_by_hand(x: Tensor) -> Tensor:
    def z(x):
        return torch.log(x**3) + torch.sqrt(x**2)

    h = 1e-5
    return (z(x + h) - z(x - h)) / (2 * h)
