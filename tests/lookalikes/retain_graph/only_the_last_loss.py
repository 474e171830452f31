"""Returns from inside the loop, after the first loss."""

import torch


def sum_of_gradients(losses, x):
    x.grad = None
    for i, loss in enumerate(losses):
        loss.backward(retain_graph=i < len(losses) - 1)
        return x.grad.clone()
