from torch import Tensor


def predict(f, x: Tensor) -> Tensor:
    return f(x).detach()
