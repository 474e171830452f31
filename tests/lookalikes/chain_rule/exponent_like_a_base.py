"""The gradients are in the wrong order, and what stands in the place of q's is that of x without its factor q."""

import torch
from torch import Tensor


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return torch.log(x), 1 / x
