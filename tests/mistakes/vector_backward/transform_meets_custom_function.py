import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    return torch.func.jacrev(f)(x).detach()
