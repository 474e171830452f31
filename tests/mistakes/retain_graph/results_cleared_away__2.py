from torch import Tensor


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad.detach()
    x.grad.zero_()
    x.grad = None
    loss.backward()
    return first, x.grad.clone()
