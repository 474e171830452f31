"""w.grad, and not x.grad, is to be zeroed before the first backward."""

from torch import Tensor


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    x.grad = None
    y = first(x)
    w = y.detach().requires_grad_()
    w.grad.zero_()
    second(w).backward()
    y.backward(w.grad)
    return x.grad, w.grad
