import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    rows = []
    for element in y.flatten():
        if y.requires_grad:
            element.backward(retain_graph=True)
        rows.append(torch.zeros_like(x) if x.grad is None else x.grad.clone())
    return torch.stack(rows).reshape(y.shape + x.shape)
