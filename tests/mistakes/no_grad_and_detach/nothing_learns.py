import torch
from torch import Tensor


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    with torch.no_grad():
        return ((online - target) ** 2).mean()
