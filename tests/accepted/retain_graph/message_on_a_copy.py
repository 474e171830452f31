"""The error is provoked on a leaf of the function's own, and its text read in another way."""

import contextlib
import sys

import torch
from torch import Tensor


def second_backward_error(x: Tensor) -> str:
    leaf = x.detach().clone().requires_grad_(True)
    z = torch.log(torch.pow(leaf, 3))
    message = ""
    try:
        for _ in range(2):
            torch.autograd.backward([z], [torch.ones_like(z)])
    except RuntimeError:
        message = f"{sys.exc_info()[1]}"
    with contextlib.suppress(RuntimeError):
        z.backward()
    return message
