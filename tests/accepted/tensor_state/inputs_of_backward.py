"""backward(inputs=...) writes into those tensors only, intermediate results among them."""

import torch


def gradients_along(z, tensors):
    for t in tensors:
        t.grad = None
    torch.autograd.backward(z, torch.ones_like(z), inputs=tensors)
    return [t.grad.clone() for t in tensors]
