"""Hessian-vector products through a dummy vector, column by column."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True, materialize_grads=True)
    columns = []
    for unit in torch.eye(len(x), dtype=x.dtype):
        product = (gradient * unit).sum()
        if product.requires_grad:
            (column,) = torch.autograd.grad(product, x, retain_graph=True, allow_unused=True)
        else:
            column = None
        columns.append(torch.zeros_like(x) if column is None else column)
    return torch.stack(columns, dim=1)


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    v = torch.ones_like(y, requires_grad=True)
    (first,) = torch.autograd.grad(y, x, v, create_graph=True)
    (second,) = torch.autograd.grad(first, x, torch.ones_like(x), allow_unused=True)
    return torch.zeros_like(x) if second is None else second
