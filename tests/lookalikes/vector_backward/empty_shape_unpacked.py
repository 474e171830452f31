"""It is the shape of y alone that is unpacked, so x may have any shape."""

import torch


def jacobian(f, x):
    y = f(x)
    out = torch.zeros(y.shape + x.shape, dtype=x.dtype).reshape(y.numel(), -1)
    if not y.requires_grad:
        return out.reshape(y.shape + x.shape)
    for k in range(y.numel()):
        v = torch.zeros(*y.shape, dtype=y.dtype)
        v.view(-1)[k] = 1
        (g,) = torch.autograd.grad(y, x, v, retain_graph=True, allow_unused=True)
        if g is not None:
            out[k] = g.reshape(-1)
    return out.reshape(y.shape + x.shape)
