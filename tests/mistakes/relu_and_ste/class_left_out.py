"""torch does it."""

import torch


def relu(x):
    return torch.relu(x)
