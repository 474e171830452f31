import torch


def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach()
    columns = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[k] = eps
        step = step.reshape(x.shape)
        columns[:, k] = ((fn(point + step) - fn(point - step)) / (2 * eps)).flatten()
    return columns.detach()
