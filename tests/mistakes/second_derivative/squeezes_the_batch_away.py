"""squeeze() makes (batch, 1) to (batch,), and (1, 1) to ()."""

import torch


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    total = 0
    y = f(x).squeeze()
    for k, row in enumerate(y):
        (gradient,) = torch.autograd.grad(row, x, create_graph=True)
        total = total + (gradient[k].norm() - 1) ** 2
    return total / len(x)
