import torch


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x, w, b = (torch.tensor(value) for value in (x, w, b))
    loss = (w * x + b) ** 2
    loss.backward()
    return x.grad.item(), w.grad.item(), b.grad.item()
