import torch


def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    base = fn(point).flatten()
    out = torch.zeros(base.numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        out[:, k] = (fn(point + step.reshape(x.shape)).flatten() - base) / eps
    return out
