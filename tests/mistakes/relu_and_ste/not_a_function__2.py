"""A module."""

import torch


class STE(torch.nn.Module):
    def forward(self, x):
        return (x > 0).to(x.dtype)

    def backward(self, grad_output):
        return grad_output


def binarize(x):
    return STE()(x)
