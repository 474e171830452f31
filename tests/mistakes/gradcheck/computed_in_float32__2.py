import torch


def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    result = torch.empty(fn(point).numel(), x.numel(), dtype=x.dtype)
    for k, row in enumerate(torch.eye(x.numel(), dtype=torch.float64) * eps):
        high, low = fn(point + row.view(x.shape)), fn(point - row.view(x.shape))
        result[:, k] = ((high - low) / (2 * eps)).reshape(-1).detach()
    return result
