import torch


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    names = ["apple", "tangerine", "num_apple", "num_tangerine", "ctax"]
    apple, tangerine, num_apple, num_tangerine, ctax = leaves = [
        torch.tensor(float(value), requires_grad=True) for value in (apple, tangerine, n_apple, n_tangerine, tax)
    ]
    between = [apple * num_apple, tangerine * num_tangerine]
    between.append(between[0] + between[1])
    between.append(between[2] * ctax)
    for node in between:
        node.retain_grad()
    between[-1].backward(retain_graph=True)
    between[-1].backward()
    names += ["apple_price", "tangerine_price", "price", "result"]
    return {name: node.grad.item() for name, node in zip(names, [*leaves, *between], strict=True)}
