"""Transposed; the function is asked once in the dtype that came, for its size."""

import torch


def numerical_jacobian(fn, x, eps=1e-6):
    y0 = fn(x)
    x64 = x.detach().double().clone()
    J = torch.zeros(x.numel(), y0.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        d = torch.zeros(x.numel(), dtype=torch.float64)
        d[k] = eps
        d = d.reshape(x.shape)
        J[k] = (fn(x64 + d).flatten() - fn(x64 - d).flatten()) / (2 * eps)
    return J.detach()
