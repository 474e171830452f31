"""All rows are right and are stored as float32 on the way."""

import torch


def jacobian(f, x):
    y = f(x)
    out = torch.zeros(y.numel(), x.numel())
    if y.requires_grad:
        for k in range(y.numel()):
            (g,) = torch.autograd.grad(y.reshape(-1)[k], x, retain_graph=True, allow_unused=True)
            if g is not None:
                out[k] = g.reshape(-1)
    return out.to(x.dtype).reshape(y.shape + x.shape)
