"""All rows of a Hessian at once: is_grads_batched, and vmap of a vector-Jacobian product."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    if not gradient.requires_grad:
        return torch.zeros(len(x), len(x), dtype=x.dtype)
    rows = torch.eye(len(x), dtype=x.dtype)
    (matrix,) = torch.autograd.grad(gradient, x, rows, is_grads_batched=True, allow_unused=True)
    return torch.zeros_like(rows) if matrix is None else matrix
