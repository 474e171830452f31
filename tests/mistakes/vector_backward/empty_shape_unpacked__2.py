"""The rows stacked, and then put into shape."""

import torch


def jacobian(f, x):
    y = f(x)
    rows = []
    for element in y.reshape(-1):
        grad = torch.autograd.grad(element, x, retain_graph=True, allow_unused=True)[0] if element.requires_grad else None
        rows.append(torch.zeros_like(x) if grad is None else grad)
    return torch.stack(rows).reshape(*y.size(), *x.size())
