import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    result = y.new_zeros(y.shape + x.shape)
    if y.requires_grad:
        rows = result.view(y.numel(), *x.shape)
        for k, element in enumerate(y.flatten()):
            (row,) = torch.autograd.grad(element, x, allow_unused=True, materialize_grads=True)
            rows[k] = row
    return result
