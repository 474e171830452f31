import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    if not y.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    rows = [torch.autograd.grad(element, x, retain_graph=True, allow_unused=True)[0] for element in y.flatten()]
    return torch.stack(rows).reshape(y.shape + x.shape)
