from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad = None
    gradients = []
    for t in tensors:
        z.backward(retain_graph=True)
        gradients.append(t.grad)
    return gradients
