"""Ways to differentiate in a table that a decorator fills; which one is taken depends on the number of inputs."""

import torch
from torch.autograd.forward_ad import dual_level, make_dual, unpack_dual

WAYS = {}


def way(name: str):
    def register(function):
        WAYS[name] = function
        return function

    return register


@way("forward")
def one_direction_at_a_time(f, values: torch.Tensor) -> list[float]:
    found = []
    for direction in torch.eye(len(values), dtype=values.dtype):
        with dual_level():
            found.append(unpack_dual(f(make_dual(values, direction))).tangent.item())
    return found


@way("reverse")
def all_at_once(f, values: torch.Tensor) -> list[float]:
    leaves = values.clone().requires_grad_()
    f(leaves).backward()
    return leaves.grad.tolist()


def gradients(f, *numbers: float) -> list[float]:
    differentiate = WAYS["forward" if len(numbers) < 4 else "reverse"]
    return differentiate(f, torch.tensor(numbers, dtype=torch.float64))


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    return tuple(gradients(lambda v: (v[1] * v[0] + v[2]) ** 2, x, w, b))


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    bill = gradients(lambda v: (v[0] * v[1] + v[2] * v[3]) * v[4], apple, n_apple, tangerine, n_tangerine, tax)
    names = ("apple", "num_apple", "tangerine", "num_tangerine", "ctax")
    return {**dict(zip(names, bill, strict=True)), "apple_price": tax, "tangerine_price": tax, "price": tax, "result": 1.0}
