import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    return torch.autograd.functional.jacobian(f, x, vectorize=True, strategy="forward-mode")
