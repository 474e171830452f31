import torch


class Mul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i, j):
        ctx.save_for_backward(i, j)
        return i * j

    @staticmethod
    def backward(ctx, grad_output):
        i, j = ctx.saved_tensors
        return j, i


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    numbers = {"apple": apple, "tangerine": tangerine, "num_apple": n_apple, "num_tangerine": n_tangerine, "ctax": tax}
    nodes = {name: torch.tensor(float(value), requires_grad=True) for name, value in numbers.items()}
    nodes["apple_price"] = Mul.apply(nodes["apple"], nodes["num_apple"])
    nodes["tangerine_price"] = Mul.apply(nodes["tangerine"], nodes["num_tangerine"])
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = Mul.apply(nodes["price"], nodes["ctax"])
    for node in nodes.values():
        node.retain_grad()
    nodes["result"].backward()
    return {name: node.grad.item() for name, node in nodes.items()}
