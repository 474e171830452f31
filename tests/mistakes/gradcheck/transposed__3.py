"""The size of fn(x) is asked for in x's own dtype, and rows are filled in place of columns."""

import torch


def numerical_jacobian(fn, x, eps=1e-6):
    size = fn(x).numel()
    x = x.detach().double().clone()
    jacobian = torch.zeros(x.numel(), size, dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        step = step.reshape(x.shape)
        jacobian[k] = (fn(x + step) - fn(x - step)).detach().flatten() / (2 * eps)
    return jacobian
