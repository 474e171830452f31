import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x).flatten()
    if not y.requires_grad:
        return torch.zeros(y.numel(), *x.shape, dtype=x.dtype)
    return torch.stack([torch.autograd.grad(element, x, retain_graph=True, materialize_grads=True)[0] for element in y])
