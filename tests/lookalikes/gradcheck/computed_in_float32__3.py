"""fn is called once in float32, for the size of its result; the differences are taken in float64 and divided by half the distance."""

import torch


def numerical_jacobian(fn, x, eps=1e-6):
    rows = fn(x.detach()).numel()
    point = x.detach().double()
    jacobian = torch.zeros(rows, x.numel(), dtype=torch.float64)
    with torch.no_grad():
        for k in range(x.numel()):
            step = torch.zeros(x.numel(), dtype=torch.float64)
            step[k] = eps
            step = step.reshape(x.shape)
            jacobian[:, k] = (fn(point + step) - fn(point - step)).flatten() / eps
    return jacobian
