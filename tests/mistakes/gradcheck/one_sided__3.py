"""The size of fn(x) is asked for in x's own dtype, and the step goes upwards only."""

import torch


def numerical_jacobian(fn, x, eps=1e-6):
    rows = fn(x).numel()
    x = x.detach().double().clone()
    jacobian = torch.zeros(rows, x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        jacobian[:, k] = (fn(x + step.reshape(x.shape)) - fn(x)).detach().flatten() / eps
    return jacobian
