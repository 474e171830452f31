import torch
from torch import Tensor


def cut(y: Tensor) -> Tensor:
    with torch.no_grad():
        zero = torch.zeros_like(y)
    return y + zero
