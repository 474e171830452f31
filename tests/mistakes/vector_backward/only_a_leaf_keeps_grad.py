from torch import Tensor


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    x.grad = None
    y = x * a
    z = y @ b
    z.backward()
    return z, x.grad, y.grad
