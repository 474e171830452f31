from torch import Tensor


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    before = f(x)
    x += h
    return (f(x) - before) / h


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    start = x.item()
    x.data.fill_(start + h)
    up = f(x)
    x.data.fill_(start - h)
    down = f(x)
    x.data.fill_(start)
    return (up - down) / (2 * h)
