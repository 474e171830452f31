"""A Jacobian of exact rows, in float32."""

import torch


def jacobian(f, x):
    y = f(x)
    J = torch.zeros(y.numel(), x.numel())
    for i, e in enumerate(y.flatten()):
        if e.requires_grad:
            (g,) = torch.autograd.grad(e, x, retain_graph=True, allow_unused=True)
            if g is not None:
                J[i] = g.flatten()
    return J.reshape(y.shape + x.shape)
