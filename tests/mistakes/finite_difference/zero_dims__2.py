import itertools

import torch
from torch import Tensor


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.shape, dtype=x.dtype)
    for first in range(x.shape[0]):
        for rest in itertools.product(*(range(n) for n in x.shape[1:])):
            up, down = x.clone(), x.clone()
            up[(first, *rest)] += h
            down[(first, *rest)] -= h
            slopes[(first, *rest)] = (f(up) - f(down)) / (2 * h)
    return slopes
