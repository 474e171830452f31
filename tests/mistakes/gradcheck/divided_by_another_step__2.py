import torch


def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    out = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        step = step.reshape(x.shape)
        out[:, k] = (fn(point + step) - fn(point - step)).flatten() / 2 * eps
    return out
