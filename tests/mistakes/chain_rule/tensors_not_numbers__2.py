import torch


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    nodes = {"apple": apple, "num_apple": n_apple, "tangerine": tangerine, "num_tangerine": n_tangerine, "ctax": tax}
    nodes = {name: torch.tensor([float(value)], requires_grad=True) for name, value in nodes.items()}
    nodes["apple_price"] = nodes["apple"] * nodes["num_apple"]
    nodes["tangerine_price"] = nodes["tangerine"] * nodes["num_tangerine"]
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = nodes["price"] * nodes["ctax"]
    for node in nodes.values():
        node.retain_grad()
    nodes["result"].backward()
    return {name: node.grad for name, node in nodes.items()}
