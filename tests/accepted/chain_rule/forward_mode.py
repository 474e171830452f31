"""Forward mode is autograd too: one direction at a time."""

import torch
from torch.autograd.forward_ad import dual_level, make_dual, unpack_dual


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    values = torch.tensor([x, w, b], dtype=torch.float64)
    found = []
    for direction in torch.eye(3, dtype=torch.float64):
        with dual_level():
            x, w, b = make_dual(values, direction)
            found.append(unpack_dual((w * x + b) ** 2).tangent.item())
    return tuple(found)


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    def from_leaves(numbers):
        return (numbers[0] * numbers[2] + numbers[1] * numbers[3]) * numbers[4]

    leaves = torch.tensor([apple, tangerine, n_apple, n_tangerine, tax], dtype=torch.float64)
    gradients = torch.func.jacfwd(from_leaves)(leaves).tolist()
    names = ("apple", "tangerine", "num_apple", "num_tangerine", "ctax")
    return {**dict(zip(names, gradients, strict=True)), "apple_price": tax, "tangerine_price": tax, "price": tax, "result": 1}
