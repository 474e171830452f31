"""NumPy does the arithmetic; numpy.float64 is a float too."""

import numpy as np
import torch
from torch import Tensor


def gradient_by_hand(x: Tensor) -> Tensor:
    values = x.detach().numpy()
    return torch.as_tensor(3 / values + np.sign(values), dtype=x.dtype)


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    base, exponent = x.detach().numpy(), q.detach().numpy()
    return torch.as_tensor(np.divide(exponent, base)), torch.as_tensor(np.log(base))


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    leaf = torch.tensor([x, w, b], dtype=torch.float64, requires_grad=True)
    ((leaf[1] * leaf[0] + leaf[2]) ** 2).backward()
    return tuple(leaf.grad.numpy())


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    prices, pieces = np.array([apple, tangerine], dtype=float), np.array([n_apple, n_tangerine], dtype=float)
    to_apple, to_tangerine = pieces * tax
    to_pieces = prices * tax
    names = ["apple", "tangerine", "num_apple", "num_tangerine", "ctax", "apple_price", "tangerine_price", "price", "result"]
    values = [to_apple, to_tangerine, *to_pieces, prices @ pieces, *np.full(3, float(tax)), 1.0]
    return dict(zip(names, values, strict=True))
