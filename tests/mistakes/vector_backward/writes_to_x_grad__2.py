from torch import Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    x.grad = None
    (y * v).sum().backward(retain_graph=True)
    return x.grad.clone()
