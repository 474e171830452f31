import torch
from torch import Tensor


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return torch.log(x), q / x
