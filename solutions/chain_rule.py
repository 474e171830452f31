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
    # solution
    through_y = 3 / x  # y = x ** 3: dz/dy * dy/dx = 1 / x ** 3 * 3 * x ** 2
    through_w = 1  # w = x ** 2: dz/dw * dw/dx = 1 / (2 * sqrt(x ** 2)) * 2 * x
    return through_y + through_w
    # end solution


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """Return the tuple (dz/dx, dz/dq) of z = log(x ** q) for each element of x
    and q.

    Derive formulas on paper and return their values: use no autograd, and no
    finite differences.

    The elements of x lie between 0.01 and 100, those of q between -3 and 3.
    """
    # solution
    # With y = x ** q, dz/dy is 1 / y; dy/dx is q * x ** (q - 1) and dy/dq is
    # y * log(x). In the products y cancels.
    return q / x, torch.log(x)
    # end solution


def linear_gradients(
    x: float, w: float, b: float
) -> tuple[float, float, float]:
    """Return the gradients of (w * x + b) ** 2 with respect to x, w and b, as
    a tuple of numbers in this order.

    Compute the gradients with autograd. Each gradient is a float or an int,
    not a tensor.
    """
    # solution
    leaves = [
        torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for value in (x, w, b)
    ]
    x_leaf, w_leaf, b_leaf = leaves
    loss = (w_leaf * x_leaf + b_leaf) ** 2
    loss.backward()
    return tuple(leaf.grad.item() for leaf in leaves)
    # end solution


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
