"""Both passes are there, and their sum is halved."""

import torch


def backward_twice(loss, x):
    loss.backward(retain_graph=True)
    loss.backward()
    x.grad /= 2
    return x.grad
