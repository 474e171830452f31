"""Only the sign of the gradient goes on."""

import torch


def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    return torch.autograd.grad(y, x, torch.sign(w.grad))[0], w.grad
