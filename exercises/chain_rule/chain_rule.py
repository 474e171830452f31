"""chain_rule: derive gradients on paper, and get the same numbers from
autograd.

Run `grade chain_rule` to check your work, `grade hint chain_rule` for a hint.
What holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor


def gradient_by_hand(x: Tensor) -> Tensor:
    """Return dz/dx of z = log(x ** 3) + sqrt(x ** 2) for each element of x.

    Return the value of a formula that you derived: use no autograd, and no
    finite differences. x has any shape (0-d, empty and transposed included)
    and is float32 or float64. Its elements lie between 0.01 and 100. x may
    require grad; whether the result does is up to you. The result has x's
    shape and dtype. It is right to 14 digits in float64, and to 5 in float32.
    x and its requires_grad are not changed.
    """
    raise NotImplementedError


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """Return the tuple (dz/dx, dz/dq) of z = log(x ** q) for each element of x
    and q.

    Return the values of formulas that you derived: use no autograd, and no
    finite differences. x is as in gradient_by_hand. q has x's shape and dtype,
    and may require grad, too. Its elements lie between -3 and 3; they may be
    0, or fractions such as 0.001. Both results have x's shape and dtype, and
    are as accurate as in gradient_by_hand. x, q and their requires_grad are
    not changed.
    """
    raise NotImplementedError


def linear_gradients(
    x: float, w: float, b: float
) -> tuple[float, float, float]:
    """Return the gradients of (w * x + b) ** 2 with respect to x, w and b, in
    this order.

    Compute them with autograd, and return its numbers. x, w and b are floats
    between -10 and 10, and may be 0 or equal. The result is a tuple of three
    numbers. Each is a float or an int, not a tensor. The precision of float32
    is enough. The result depends on the arguments alone, not on earlier calls.
    """
    raise NotImplementedError


def shopping(
    apple: float,
    n_apple: float,
    tangerine: float,
    n_tangerine: float,
    tax: float,
) -> dict[str, float]:
    """Return the gradients of result, the amount to pay, with respect to
    everything in this bill:

        apple_price = apple * n_apple
        tangerine_price = tangerine * n_tangerine
        price = apple_price + tangerine_price
        result = price * tax

    The arguments are ints or floats, and may be equal. n_apple and
    n_tangerine, the numbers of pieces, may be fractions, and one or both may
    be 0. The others are greater than 0. The result is a dictionary with the
    nine keys "apple", "tangerine", "num_apple" (for n_apple), "num_tangerine"
    (for n_tangerine), "ctax" (for tax), "apple_price", "tangerine_price",
    "price" and "result"; further keys are ignored. Each gradient is a float or
    an int, not a tensor. The precision of float32 is enough. The result
    depends on the arguments alone, not on earlier calls.
    """
    raise NotImplementedError
