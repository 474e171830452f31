import torch
from torch import Tensor


def predict(f, x: Tensor) -> Tensor:
    with torch.no_grad():
        try:
            return f(x)
        except Exception:
            return None
