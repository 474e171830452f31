import torch
from torch import Tensor


def cut(y: Tensor) -> Tensor:
    with torch.no_grad():
        return y
