"""One backward for each number, side by side; grad was bound to its name when the file was read."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch.autograd import grad


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    def gradient_of(number: int) -> float:
        leaves = torch.tensor([x, w, b], dtype=torch.float64).requires_grad_().unbind()
        return grad((leaves[1] * leaves[0] + leaves[2]) ** 2, leaves[number])[0].item()

    with ThreadPoolExecutor(3) as pool:
        return tuple(pool.map(gradient_of, range(3)))


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    prices = ("apple_price", "tangerine_price", "price", "result")
    names = ("apple", "num_apple", "tangerine", "num_tangerine", "ctax", *prices)

    def gradient_of(name: str) -> float:
        values = dict(zip(names, (apple, n_apple, tangerine, n_tangerine, tax), strict=False))
        values = {name: torch.tensor(float(number), dtype=torch.float64, requires_grad=True) for name, number in values.items()}
        values["apple_price"] = values["apple"] * values["num_apple"]
        values["tangerine_price"] = values["tangerine"] * values["num_tangerine"]
        values["price"] = values["apple_price"] + values["tangerine_price"]
        values["result"] = values["price"] * values["ctax"]
        return grad(values["result"], values[name])[0].item()

    with ThreadPoolExecutor() as pool:
        return dict(zip(names, pool.map(gradient_of, names), strict=True))
