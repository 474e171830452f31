import torch
from torch import Tensor


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    here, slopes = f(x), []
    for k in range(x.numel()):
        ahead = x.flatten().clone()
        ahead[k] = ahead[k] + h
        slopes.append((f(ahead.reshape(x.shape)) - here) / h)
    return torch.stack(slopes).reshape(x.shape) if slopes else x.clone()
