import torch


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    numbers = {"apple": apple, "tangerine": tangerine, "num_apple": n_apple, "num_tangerine": n_tangerine, "ctax": tax}
    nodes = {name: torch.tensor(float(value), requires_grad=True) for name, value in numbers.items()}
    nodes["apple_price"] = torch.tensor(float(apple * n_apple), requires_grad=True)
    nodes["tangerine_price"] = torch.tensor(float(tangerine * n_tangerine), requires_grad=True)
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = nodes["price"] * nodes["ctax"]
    for node in nodes.values():
        node.retain_grad()
    nodes["result"].backward()
    return {name: node.grad.item() for name, node in nodes.items()}
