"""create_graph=True is there, and the gradient is detached afterwards."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, create_graph=True)[0].detach()
    return torch.stack([torch.autograd.grad(element, x, retain_graph=True)[0] for element in gradient])
