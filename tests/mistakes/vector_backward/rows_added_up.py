import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    if not y.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y), materialize_grads=True)
    return gradient
