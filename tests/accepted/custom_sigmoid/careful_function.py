"""sigmoid checks its argument; the tensor that Sigmoid gets is a contiguous one."""

import torch


def sigmoid(x):
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"sigmoid takes a tensor, not a {type(x).__name__}")
    if not x.is_floating_point():
        x = x.float()
    shape = x.shape
    return Sigmoid.apply(x.reshape(-1)).reshape(shape)  # noqa: F821
