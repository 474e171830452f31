"""The rows are to be collected in a tuple."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, create_graph=True)[0]
    rows = ()
    for element in gradient:
        rows.append(torch.autograd.grad(element, x, retain_graph=True)[0])
    return torch.stack(rows)
