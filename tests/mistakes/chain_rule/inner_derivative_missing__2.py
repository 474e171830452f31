import torch
from torch import Tensor


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    dz_dy = 1 / x**q
    return dz_dy, torch.log(x)
