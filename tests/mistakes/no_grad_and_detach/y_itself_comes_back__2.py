from torch import Tensor


def cut(y: Tensor) -> Tensor:
    y.detach()
    return y
