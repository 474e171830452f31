import torch


def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    base = fn(point).reshape(-1)
    columns = [
        (base - fn(point - eps * direction.reshape(x.shape)).reshape(-1)) / eps for direction in torch.eye(x.numel(), dtype=torch.float64)
    ]
    return torch.stack(columns, dim=1) if columns else torch.zeros(base.numel(), 0, dtype=torch.float64)
