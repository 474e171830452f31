from torch import Tensor


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    first = loss.backward(retain_graph=True)
    x.grad = None
    second = loss.backward()
    return first, second
