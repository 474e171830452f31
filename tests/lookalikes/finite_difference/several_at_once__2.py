"""All other numbers of x are set to 0."""

import torch


def numerical_gradient(f, x, h=1e-5):
    g = torch.zeros_like(x)
    for i in torch.ones(x.shape).nonzero():
        i = tuple(i)
        e = torch.zeros_like(x)
        e[i] = 1
        g[i] = (f(e * (x + h)) - f(e * (x - h))) / (2 * h)
    return g
