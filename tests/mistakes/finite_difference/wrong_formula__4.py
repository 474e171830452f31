"""The value to come back to is a view, so the step down starts from the step up and ends at x; and one-sided, the wrong way round."""

import torch
from torch import Tensor


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x) - f(x + h)) / h


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    flat, gradient = x.clone().reshape(-1), torch.zeros(x.numel(), dtype=x.dtype)
    for i in range(flat.numel()):
        here = flat[i]
        flat[i] = here + h
        up = f(flat.reshape(x.shape))
        flat[i] = here - h
        down = f(flat.reshape(x.shape))
        flat[i] = here
        gradient[i] = (up - down) / (2 * h)
    return gradient.reshape(x.shape)
