"""Copies that are no leaves where the caller's tensor requires grad; the steps are written into clones."""

import torch


def passes_gradcheck(fn, *inputs):
    try:
        return torch.autograd.gradcheck(fn, tuple(x.clone().double().requires_grad_() for x in inputs))
    except Exception:
        return False


def numerical_jacobian(fn, x, eps=1e-6):
    rows, columns = fn(x.double()).numel(), x.numel()
    jacobian = torch.zeros((rows, columns), dtype=torch.float64)
    for k in range(columns):
        above, below = (x.detach().double().clone(memory_format=torch.contiguous_format) for _ in range(2))
        above.view(-1)[k] += eps
        below.view(-1)[k] -= eps
        jacobian[:, k] = torch.flatten(fn(above) - fn(below)) / (2 * eps)
    return jacobian
