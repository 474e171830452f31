"""All of x is filled with the one number that gets a step."""

import torch


def numerical_gradient(f, x, h=1e-5):
    g = torch.zeros_like(x)
    for i in torch.ones(x.shape).nonzero():
        i = tuple(i)
        g[i] = (f(torch.full_like(x, x[i].item() + h)) - f(torch.full_like(x, x[i].item() - h))) / (2 * h)
    return g
