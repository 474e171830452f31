from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    gradients = []
    for t in tensors:
        t.retain_grad()
        t.grad = None
        z.backward()
        gradients.append(t.grad.clone())
    return gradients
