from torch import Tensor


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward()
    return 2 * x.grad
