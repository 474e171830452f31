import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    x.grad = torch.zeros_like(x)
    rows = []
    for element in y.flatten():
        if y.requires_grad:
            x.grad.zero_()
            element.backward(retain_graph=True)
        rows.append(x.grad)
    return torch.stack(rows).reshape(y.shape + x.shape)
