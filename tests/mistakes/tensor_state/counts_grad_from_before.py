from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
    z.backward()
    return [t.grad for t in tensors]
