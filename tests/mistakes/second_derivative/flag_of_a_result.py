"""The flag is set on the caller's x, which has to be a leaf for that."""

import torch


def hessian(f, x):
    x.requires_grad = True
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not gradient.requires_grad:
        return torch.zeros(len(x), len(x), dtype=x.dtype)
    return torch.stack([torch.autograd.grad(g, x, retain_graph=True, materialize_grads=True)[0] for g in gradient])
