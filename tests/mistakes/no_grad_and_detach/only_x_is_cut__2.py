from torch import Tensor


def predict(f, x: Tensor) -> Tensor:
    x.requires_grad_(False)
    return f(x)
