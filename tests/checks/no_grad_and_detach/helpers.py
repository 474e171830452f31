"""no_grad_and_detach, what its visible and hidden checks share."""

import torch


def both_gradients(first, second, x):
    """The truth: the gradients at x and at w."""
    y = first(x)
    w = y.detach().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    (at_x,) = torch.autograd.grad(y, x, at_w)
    return at_x, at_w
