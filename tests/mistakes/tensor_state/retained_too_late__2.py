from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    z.grad = None
    for t in tensors:
        t.grad = None
    z.backward()
    gradients = []
    for t in tensors:
        if not t.is_leaf:
            t.retain_grad()
        gradients.append(t.grad.clone())
    return gradients
