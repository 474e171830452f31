from torch import Tensor


def predict(f, x: Tensor) -> Tensor:
    y = f(x)
    y.requires_grad = False
    return y
