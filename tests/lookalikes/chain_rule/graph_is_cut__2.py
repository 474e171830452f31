"""Everything got its gradient, and all but the result were told to keep it."""

import torch


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    numbers = {"apple": apple, "tangerine": tangerine, "num_apple": n_apple, "num_tangerine": n_tangerine, "ctax": tax}
    nodes = {name: torch.tensor(float(value), dtype=torch.float64, requires_grad=True) for name, value in numbers.items()}
    nodes["apple_price"] = nodes["apple"] * nodes["num_apple"]
    nodes["tangerine_price"] = nodes["tangerine"] * nodes["num_tangerine"]
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    for node in nodes.values():
        node.retain_grad()
    nodes["result"] = nodes["price"] * nodes["ctax"]
    nodes["result"].backward()
    return {name: node.grad.item() for name, node in nodes.items()}
