"""Functions of one's own with the right backward; a formula that is scaled and scaled back; keyword and default arguments."""

import torch
from torch import Tensor


class Mul(torch.autograd.Function):
    """i * j."""

    @staticmethod
    def forward(ctx, i, j):
        ctx.save_for_backward(i, j)
        return i * j

    @staticmethod
    def backward(ctx, grad_output):
        i, j = ctx.saved_tensors
        return grad_output * j, grad_output * i


def gradient_by_hand(x: Tensor, power: int = 3) -> Tensor:
    return (power + x) / x


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    inverse = torch.reciprocal(x)
    return q.mul(inverse), -torch.log(inverse)


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x, w, b = torch.nn.ParameterList(torch.nn.Parameter(torch.tensor(value)) for value in (x, w, b))
    y = Mul.apply(w, x) + b
    Mul.apply(y, y).backward()
    return x.grad.tolist(), w.grad.tolist(), b.grad.tolist()


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    keys = ("apple", "num_apple", "tangerine", "num_tangerine", "ctax")
    leaves = {
        key: torch.tensor(1.0 * value, requires_grad=True)
        for key, value in zip(keys, (apple, n_apple, tangerine, n_tangerine, tax), strict=True)
    }
    lines = {f"{fruit}_price": Mul.apply(leaves[fruit], leaves[f"num_{fruit}"]) for fruit in ("apple", "tangerine")}
    price = sum(lines.values())
    result = Mul.apply(price, leaves["ctax"])
    everything = {**leaves, **lines, "price": price, "result": result}
    for tensor in everything.values():
        tensor.retain_grad()
    result.backward()
    return {key: tensor.grad.item() for key, tensor in everything.items()}
