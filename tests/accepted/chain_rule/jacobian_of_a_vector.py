"""vmap over a formula, which differentiates nothing; torch.func's forward Jacobian; powers that do not cancel."""

import torch
from torch import Tensor


def gradient_by_hand(x: Tensor) -> Tensor:
    def at_one_number(t):
        return 3 * torch.exp(-torch.log(t)) + 1

    return torch.vmap(at_one_number)(x.reshape(-1)).reshape(x.shape) if x.numel() else torch.zeros_like(x)


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.pow(x, q)
    return q * torch.pow(x, q - 1) / y, y * x.log() / y


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    leaf = torch.tensor([x, w, b])
    return tuple(torch.func.jacfwd(lambda v: (v[1] * v[0] + v[2]).pow(2))(leaf).tolist())
