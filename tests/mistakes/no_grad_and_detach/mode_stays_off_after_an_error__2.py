import torch
from torch import Tensor


def predict(f, x: Tensor) -> Tensor:
    guard = torch.no_grad()
    guard.__enter__()
    result = f(x)
    guard.__exit__(None, None, None)
    return result
