"""Only b is squared, and each gradient comes from autograd."""

import torch


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x_leaf, w_leaf, b_leaf = (torch.tensor(value, requires_grad=True) for value in (x, w, b))
    loss = w_leaf * x_leaf + b_leaf**2
    loss.backward()
    return x_leaf.grad.item(), w_leaf.grad.item(), b_leaf.grad.item()
