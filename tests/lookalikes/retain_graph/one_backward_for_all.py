"""One backward of the losses' product."""

import torch


def sum_of_gradients(losses, x):
    x.grad = None
    torch.stack(losses).prod().backward()
    return x.grad.clone()
