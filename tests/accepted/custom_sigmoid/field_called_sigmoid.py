"""A record of what is kept, with a field called sigmoid; sigmoid clamps what rounding never moves."""

from typing import NamedTuple

import torch
from torch import Tensor


class Kept(NamedTuple):
    sigmoid: Tensor


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        e = torch.exp(-x.abs())
        kept = Kept(torch.where(x < 0, e, 1.0) / (1 + e))
        ctx.save_for_backward(*kept)
        return kept.sigmoid

    @staticmethod
    def backward(ctx, grad_output):
        kept = Kept(*ctx.saved_tensors)
        return grad_output * kept.sigmoid * (1 - kept.sigmoid)


def sigmoid(x):
    return torch.clamp(Sigmoid.apply(x), 0, 1)
