import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    rows = torch.autograd.functional.jacobian(f, x)
    y_dims = rows.dim() - x.dim()
    return rows.movedim(tuple(range(y_dims)), tuple(range(-y_dims, 0)))
