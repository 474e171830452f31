"""The rows are copied, but x.grad is never cleared, not even of the gradient."""

import torch


def hessian(f, x):
    x = x.detach().requires_grad_()
    f(x).backward(create_graph=True)
    gradient = x.grad
    rows = []
    for k in range(len(x)):
        if gradient.requires_grad:
            gradient[k].backward(retain_graph=True)
        rows.append(x.grad.detach().clone())
    return torch.stack(rows)
