from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.requires_grad_()
        if t.is_leaf:
            t.grad = None
    z.backward()
    return [t.grad.clone() for t in tensors]
