"""No graph is built."""

import torch


def sigmoid(x):
    with torch.no_grad():
        return Sigmoid.apply(x)  # noqa: F821
