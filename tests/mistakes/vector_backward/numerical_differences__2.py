import torch
from torch import Tensor


def jacobian(f, x: Tensor) -> Tensor:
    h = 1e-2
    y = f(x).detach()
    matrix = torch.zeros(y.numel(), x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[k] = h
        above, below = f(x.detach() + step.view(x.shape)), f(x.detach() - step.view(x.shape))
        matrix[:, k] = ((above - below) / (2 * h)).detach().flatten()
    return matrix.view(y.shape + x.shape)
