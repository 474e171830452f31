"""Division in torch, which gives nan where Python raises."""

import torch
from torch.autograd import Function


class Times(Function):
    @staticmethod
    def forward(ctx, x, y):
        z = x * y
        ctx.save_for_backward(x, y, z)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        x, y, z = ctx.saved_tensors
        return grad_output * z / x, grad_output * z / y


def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    given = [apple, n_apple, tangerine, n_tangerine, tax]
    leaves = [torch.tensor(float(value), dtype=torch.float64, requires_grad=True) for value in given]
    apple_price, tangerine_price = Times.apply(*leaves[:2]), Times.apply(*leaves[2:4])
    price = apple_price + tangerine_price
    result = price * leaves[4]
    names = ["apple", "num_apple", "tangerine", "num_tangerine", "ctax", "apple_price", "tangerine_price", "price", "result"]
    grads = torch.autograd.grad(result, [*leaves, apple_price, tangerine_price, price, result])
    return {name: grad.item() for name, grad in zip(names, grads, strict=True)}
