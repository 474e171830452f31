"""No pass runs at all."""

import torch


def backward_twice(loss, x):
    return torch.zeros_like(x)
