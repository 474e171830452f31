"""A float64 x is moved in place and put back, element by element, as gradcheck does it; other dtypes on a copy."""

import torch


@torch.no_grad()
def numerical_jacobian(fn, x, eps=1e-6):
    work = x.data if x.dtype == torch.float64 else x.data.double()
    columns = []
    for index in torch.cartesian_prod(*(torch.arange(n) for n in work.shape)).reshape(-1, work.dim()).tolist() if work.dim() else [()]:
        place = tuple(index)
        old = work[place].item()
        work[place] = old + eps
        above = fn(work).clone().flatten()
        work[place] = old - eps
        below = fn(work).clone().flatten()
        work[place] = old
        columns.append((above - below) / (2 * eps))
    out = torch.zeros(fn(work).numel(), x.numel(), dtype=torch.float64)
    for k, column in enumerate(columns):
        out[:, k] = column
    return out
