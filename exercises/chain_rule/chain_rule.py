"""chain_rule: derive gradients on paper, and get the same numbers from
autograd.

Run `grade chain_rule` to check your work, `grade hint chain_rule` for a hint.
What holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor


def gradient_by_hand(x: Tensor) -> Tensor:
    """Return dz/dx of z = log(x ** 3) + sqrt(x ** 2) for each element of x.

    Derive a formula on paper and return its value: use no autograd, and no
    finite differences.

    The elements of x lie between 0.01 and 100.
    """
    raise NotImplementedError


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """Return the tuple (dz/dx, dz/dq) of z = log(x ** q) for each element of x
    and q.

    Derive formulas on paper and return their values: use no autograd, and no
    finite differences.

    The elements of x lie between 0.01 and 100, those of q between -3 and 3.
    """
    raise NotImplementedError


def linear_gradients(
    x: float, w: float, b: float
) -> tuple[float, float, float]:
    """Return the gradients of (w * x + b) ** 2 with respect to x, w and b, as
    a tuple of numbers in this order.

    Compute the gradients with autograd. Each gradient is a float or an int,
    not a tensor.
    """
    raise NotImplementedError


def shopping(
    apple: float,
    n_apple: float,
    tangerine: float,
    n_tangerine: float,
    tax: float,
) -> dict[str, float]:
    """Return the gradient of result with respect to each of the nine numbers
    in the bill apple_price = apple * n_apple, tangerine_price = tangerine *
    n_tangerine, price = apple_price + tangerine_price, result = price * tax.

    The keys are "apple", "tangerine", "num_apple", "num_tangerine", "ctax"
    (for tax), "apple_price", "tangerine_price", "price" and "result". Each
    gradient is a float or an int, not a tensor.
    """
    raise NotImplementedError
