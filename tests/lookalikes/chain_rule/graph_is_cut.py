"""The leaves got their gradients; what is read is the .grad of their double(), which is no leaf."""

import torch


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x, w, b = (torch.tensor(number, requires_grad=True).double() for number in (x, w, b))
    ((w * x + b) ** 2).backward()
    return x.grad.item(), w.grad.item(), b.grad.item()
