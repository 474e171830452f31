"""Multiplies and drops the product."""

import torch


def backward_with_scaled_gradient(loss, y, factor):
    def hook(grad):
        torch.mul(grad, factor)

    handle = y.register_hook(hook)
    try:
        loss.backward()
    finally:
        handle.remove()
