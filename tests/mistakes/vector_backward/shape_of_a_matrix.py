import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    matrix = torch.zeros(y.numel(), x.numel(), dtype=x.dtype)
    if y.requires_grad:
        for k, element in enumerate(y.flatten()):
            matrix[k] = torch.autograd.grad(element, x, retain_graph=True, materialize_grads=True)[0].flatten()
    return matrix
