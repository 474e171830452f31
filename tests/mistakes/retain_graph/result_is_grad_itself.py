from torch import Tensor


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    x.grad.zero_()
    loss.backward()
    return first, x.grad
