"""NumPy walks the indices and holds the numbers; f still gets tensors."""

import numpy as np
import torch
from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    ahead = torch.from_numpy(np.array(x.numpy() + x.numpy().dtype.type(h)))
    return torch.as_tensor((f(ahead).item() - f(x).item()) / h, dtype=x.dtype)


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    up, down = (f(torch.tensor(x.item() + s, dtype=x.dtype)).item() for s in (h, -h))
    return torch.tensor((up - down) / (2 * h), dtype=x.dtype)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    start = x.numpy()
    out = np.empty_like(start)
    for index in np.ndindex(*start.shape):
        values = []
        for sign in (1, -1):
            moved = start.copy()
            moved[index] += sign * h
            values.append(f(torch.from_numpy(moved)).item())
        out[index] = (values[0] - values[1]) / (2 * h)
    return torch.from_numpy(out)
