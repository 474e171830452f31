import torch
from torch import Tensor


def predict(f, x: Tensor) -> Tensor:
    torch.set_grad_enabled(False)
    return f(x)
