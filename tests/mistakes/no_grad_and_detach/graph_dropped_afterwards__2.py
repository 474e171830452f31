import torch
from torch import Tensor


def predict(f, x: Tensor) -> Tensor:
    y = f(x)
    with torch.no_grad():
        return y.clone()
