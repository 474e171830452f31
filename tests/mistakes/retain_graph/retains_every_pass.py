from torch import Tensor


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    for _ in range(2):
        loss.backward(retain_graph=True)
    return x.grad
