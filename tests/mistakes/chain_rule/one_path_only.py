from torch import Tensor


def gradient_by_hand(x: Tensor) -> Tensor:
    return 3 / x
