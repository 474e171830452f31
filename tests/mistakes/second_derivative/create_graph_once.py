"""create_graph for the first derivative only."""

import torch


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must be 0 or more")
    x = x.detach().requires_grad_()
    result = f(x)
    for k in range(n):
        (result,) = torch.autograd.grad(result.sum(), x, create_graph=(k == 0), materialize_grads=True)
    return result
