"""The vector that picks a row is never cleared, so that it picks those before as well; x.grad has no part in it."""

import torch


def jacobian(f, x):
    y = f(x)
    v = torch.zeros(y.numel(), dtype=y.dtype)
    rows = []
    for k in range(y.numel()):
        v[k] = 1
        rows.append(torch.autograd.grad(y, x, v.reshape(y.shape).clone(), retain_graph=True)[0])
    return torch.stack(rows).reshape(y.shape + x.shape)
