"""chain_rule: gradients worked out on paper, and the same numbers from autograd.

Run `grade chain_rule` to see how far you are, `grade hint chain_rule` for a nudge.
"""

import torch
from torch import Tensor


def gradient_by_hand(x: Tensor) -> Tensor:
    """Return dz/dx of z = log(x ** 3) + sqrt(x ** 2), for x > 0, from a formula that you derived.

    x is float32 or float64, of any shape, a single number and an empty tensor included, and may or
    may not require grad. The function works elementwise: the result has x's shape and dtype. No
    autograd, and no differences of z.
    """
    # solution
    through_y = 3 / x  # y = x ** 3: dz/dy * dy/dx = 1 / x ** 3 * 3 * x ** 2
    through_w = 1  # w = x ** 2: dz/dw * dw/dx = 1 / (2 * sqrt(x ** 2)) * 2 * x
    return through_y + through_w
    # end solution


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """Return (dz/dx, dz/dq) of z = log(x ** q), from formulas that you derived.

    x and q are of one shape, any shape, and one dtype, float32 or float64. x > 0; q may be
    negative, zero or a fraction. The function works elementwise: each of the two results has that
    shape and dtype. No autograd, and no differences of z.
    """
    # solution
    # With y = x ** q, dz/dy is 1 / y; dy/dx is q * x ** (q - 1) and dy/dq is y * log(x). In the
    # products y cancels.
    return q / x, torch.log(x)
    # end solution


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    """Return the gradients of (w * x + b) ** 2 with respect to x, w and b, in this order, computed
    by autograd.

    Floats come in, and a tuple of three plain floats goes out.
    """
    # solution
    leaves = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (x, w, b)]
    x_leaf, w_leaf, b_leaf = leaves
    loss = (w_leaf * x_leaf + b_leaf) ** 2
    loss.backward()
    return tuple(leaf.grad.item() for leaf in leaves)
    # end solution


def shopping(
    apple: float, n_apple: float, tangerine: float, n_tangerine: float, tax: float
) -> dict[str, float]:
    """Return the gradient of a shopping bill with respect to everything in it.

    Plain numbers come in, ints or floats; a number of pieces may be 0. The bill:

        apple_price = apple * n_apple
        tangerine_price = tangerine * n_tangerine
        price = apple_price + tangerine_price
        result = price * tax

    The gradients of result are plain floats, under nine keys: "apple", "tangerine", "num_apple"
    (with respect to n_apple), "num_tangerine", "ctax" (with respect to tax), "apple_price",
    "tangerine_price", "price", "result".
    """
    # solution
    numbers = {
        "apple": apple,
        "tangerine": tangerine,
        "num_apple": n_apple,
        "num_tangerine": n_tangerine,
        "ctax": tax,
    }
    nodes = {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for name, value in numbers.items()
    }
    nodes["apple_price"] = nodes["apple"] * nodes["num_apple"]
    nodes["tangerine_price"] = nodes["tangerine"] * nodes["num_tangerine"]
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = nodes["price"] * nodes["ctax"]
    for node in nodes.values():
        node.retain_grad()
    nodes["result"].backward()
    return {name: node.grad.item() for name, node in nodes.items()}
    # end solution
