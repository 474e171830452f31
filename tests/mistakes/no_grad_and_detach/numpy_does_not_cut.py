import torch
from torch import Tensor


def cut(y: Tensor) -> Tensor:
    return torch.tensor(y.numpy())
