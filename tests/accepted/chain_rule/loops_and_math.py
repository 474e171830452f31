"""Python numbers and the math module, element by element; Fractions for the bill."""

import math
from fractions import Fraction

import torch
from torch import Tensor


def gradient_by_hand(x: Tensor) -> Tensor:
    values = [3 / value + value / math.sqrt(value**2) for value in x.detach().flatten().tolist()]
    return torch.tensor(values, dtype=x.dtype).reshape(x.shape)


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    to_x, to_q = [], []
    for base, exponent in zip(x.detach().flatten().tolist(), q.detach().flatten().tolist(), strict=True):
        to_x.append(exponent / base)
        to_q.append(math.log(base))
    return torch.tensor(to_x, dtype=x.dtype).view(x.shape), torch.tensor(to_q, dtype=x.dtype).view(x.shape)


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    apple, n_apple, tangerine, n_tangerine, tax = map(Fraction, (apple, n_apple, tangerine, n_tangerine, tax))
    exact = {
        "apple": n_apple * tax,
        "tangerine": n_tangerine * tax,
        "num_apple": apple * tax,
        "num_tangerine": tangerine * tax,
        "ctax": apple * n_apple + tangerine * n_tangerine,
        **dict.fromkeys(("apple_price", "tangerine_price", "price"), tax),
        "result": Fraction(1),
    }
    return {name: float(value) for name, value in exact.items()}
