"""The first pass hands its gradient back and stores nothing."""

import torch


def backward_twice(loss, x):
    torch.autograd.grad(loss, x, retain_graph=True)
    loss.backward()
    return x.grad
