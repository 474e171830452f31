"""A differentiation of its own for each tensor, the graph retained throughout."""

import torch


def gradients_along(z, tensors):
    gradients = []
    for t in tensors:
        (gradient,) = torch.autograd.grad(z, t, retain_graph=True)
        gradients.append(gradient)
    return gradients
