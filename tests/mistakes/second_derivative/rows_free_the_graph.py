"""The first row's backward pass frees the graph of the gradient."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not gradient.requires_grad:
        return x.new_zeros(len(x), len(x))
    rows = []
    for element in gradient:
        (row,) = torch.autograd.grad(element, x, materialize_grads=True)
        rows.append(row)
    return torch.stack(rows)
