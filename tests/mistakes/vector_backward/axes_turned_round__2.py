import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    if not y.requires_grad:
        return y.new_zeros(x.shape + y.shape)
    columns = []
    for element in y.flatten():
        (row,) = torch.autograd.grad(element, x, retain_graph=True, materialize_grads=True)
        columns.append(row)
    return torch.stack(columns, dim=-1).reshape(x.shape + y.shape)
