from torch import Tensor


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    target.detach_()
    return ((online - target) ** 2).mean()
