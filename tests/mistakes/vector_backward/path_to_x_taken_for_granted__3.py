import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    result = torch.zeros(y.shape + x.shape, dtype=x.dtype)
    rows = result.view(y.numel(), *x.shape)
    for k, element in enumerate(y.flatten()):
        x.grad = None
        element.backward(retain_graph=True)
        rows[k] = x.grad
    return result
