"""v^T J is linear in v, so its derivative with respect to v gives J column by column; positional arguments."""

import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    if not y.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    v = torch.zeros_like(y, requires_grad=True)
    (product,) = torch.autograd.grad(y, x, v, create_graph=True, allow_unused=True)
    if product is None or not product.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    columns = [torch.autograd.grad(element, v, retain_graph=True)[0] for element in product.flatten()]
    return torch.stack(columns, dim=-1).reshape(y.shape + x.shape) if columns else torch.zeros(y.shape + x.shape, dtype=x.dtype)


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    return torch.autograd.grad([y], [x], [v], True)[0]
