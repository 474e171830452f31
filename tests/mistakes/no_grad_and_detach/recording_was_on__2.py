import torch
from torch import Tensor


def predict(f, x: Tensor) -> Tensor:
    torch.no_grad()
    return f(x)
