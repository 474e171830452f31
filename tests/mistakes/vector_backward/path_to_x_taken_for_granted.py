import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    units = torch.eye(y.numel(), dtype=y.dtype)
    rows = [torch.autograd.grad(y, x, unit.view(y.shape), retain_graph=True)[0] for unit in units]
    return torch.stack(rows).view(y.shape + x.shape)
