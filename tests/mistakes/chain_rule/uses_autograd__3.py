import torch
from torch import Tensor


def gradient_by_hand(x: Tensor) -> Tensor:
    ones = torch.ones_like(x)
    return torch.autograd.functional.jvp(lambda x: torch.log(x**3) + torch.sqrt(x**2), x.detach(), ones)[1]
