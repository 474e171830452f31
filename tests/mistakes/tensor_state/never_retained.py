from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.grad = None
    z.backward()
    return [t.grad for t in tensors]
