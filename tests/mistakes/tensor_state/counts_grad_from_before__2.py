from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        if t.is_leaf:
            t.grad = None
        else:
            t.retain_grad()
    z.backward()
    return [t.grad.clone() for t in tensors]
