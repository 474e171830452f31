"""torch.func is used for its vmap only, which differentiates nothing."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    (gradient,) = torch.autograd.grad(y, x, create_graph=True, materialize_grads=True)
    if not gradient.requires_grad:
        return torch.zeros(len(x), len(x), dtype=x.dtype)
    eye = torch.eye(len(x), dtype=x.dtype)
    return torch.func.vmap(lambda v: torch.autograd.grad(gradient, x, v, retain_graph=True, materialize_grads=True)[0])(eye)
