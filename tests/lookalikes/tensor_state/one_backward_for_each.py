"""One backward begins at z; those after it begin at the intermediate results, in a graph that is freed."""

import torch
from torch import Tensor


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    for t in tensors:
        if t is not z and not t.is_leaf:
            t.backward(torch.ones_like(t))
    return [t.grad for t in tensors]
