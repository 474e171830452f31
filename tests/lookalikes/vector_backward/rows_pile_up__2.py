"""The vector always picks the last row; x.grad has no part in it."""

import torch


def jacobian(f, x):
    y = f(x)
    rows = []
    for _ in range(y.numel()):
        v = torch.zeros(y.numel(), dtype=y.dtype)
        v[-1] = 1
        rows.append(torch.autograd.grad(y, x, v.reshape(y.shape), retain_graph=True)[0])
    return torch.stack(rows).reshape(y.shape + x.shape)
