import torch


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x = torch.tensor(x, requires_grad=True)
    w = torch.tensor(w, requires_grad=True)
    b = torch.tensor(b, requires_grad=True)
    loss = torch.tensor((w * x + b).item() ** 2, requires_grad=True)
    loss.backward()
    return x.grad.item(), w.grad.item(), b.grad.item()
