"""All rows are right, and are then rounded to four decimals."""

import torch


def jacobian(f, x):
    y = f(x)
    out = torch.zeros(y.numel(), x.numel(), dtype=x.dtype)
    if y.requires_grad:
        for k in range(y.numel()):
            (g,) = torch.autograd.grad(y.reshape(-1)[k], x, retain_graph=True, allow_unused=True)
            if g is not None:
                out[k] = g.reshape(-1)
    return torch.round(out, decimals=4).reshape(y.shape + x.shape)
