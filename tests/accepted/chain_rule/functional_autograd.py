"""torch.func for the line; torch.autograd.grad for leaves and intermediate results at once."""

import torch


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    def loss(x, w, b):
        return torch.square(w * x + b)

    gradients = torch.func.grad(loss, argnums=(0, 1, 2))(*map(torch.tensor, (x, w, b)))
    return tuple(gradient.item() for gradient in gradients)


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    nodes = {}

    def leaf(name, value):
        nodes[name] = torch.tensor(float(value), requires_grad=True)
        return nodes[name]

    nodes["apple_price"] = leaf("apple", apple) * leaf("num_apple", n_apple)
    nodes["tangerine_price"] = leaf("tangerine", tangerine) * leaf("num_tangerine", n_tangerine)
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = nodes["price"] * leaf("ctax", tax)
    gradients = torch.autograd.grad(nodes["result"], list(nodes.values()))
    return {name: gradient.item() for name, gradient in zip(nodes, gradients, strict=True)}
