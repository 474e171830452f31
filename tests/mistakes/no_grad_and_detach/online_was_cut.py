from torch import Tensor


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return ((online.detach() - target) ** 2).mean()
