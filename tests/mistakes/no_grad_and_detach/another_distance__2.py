import torch
from torch import Tensor


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return torch.nn.functional.l1_loss(online, target.detach())
