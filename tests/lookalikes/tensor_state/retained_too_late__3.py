"""All are retained in time; the gradients are expected in what backward returns, which is None."""

from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad = None
    return list(z.backward())
