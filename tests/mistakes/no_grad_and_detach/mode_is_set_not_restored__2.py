import torch
from torch import Tensor


def predict(f, x: Tensor) -> Tensor:
    torch.set_grad_enabled(False)
    try:
        return f(x)
    finally:
        torch.set_grad_enabled(True)
