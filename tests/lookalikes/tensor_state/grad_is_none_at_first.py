"""What is None here is the result of reverse(), which turns the list round in its place."""

from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors.copy().reverse():
        t.retain_grad()
        t.grad = None
    z.backward()
    return [t.grad for t in tensors]
