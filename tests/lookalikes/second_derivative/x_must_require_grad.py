"""f gets an x that requires grad, and the gradient is asked with respect to another tensor."""

import torch


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x.detach(), create_graph=True)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]
