"""f is asked at the step alone, not at x with a step."""

import torch


def numerical_gradient(f, x, h=1e-5):
    g = torch.zeros_like(x)
    for i in torch.ones(x.shape).nonzero():
        i = tuple(i)
        e = torch.zeros_like(x)
        e[i] = h
        g[i] = (f(e) - f(-e)) / (2 * h)
    return g
