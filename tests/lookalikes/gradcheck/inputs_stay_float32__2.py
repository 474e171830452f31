"""Float64 copies; what gradcheck accepts must pass gradgradcheck as well, so a right gradient that has no derivative is rejected."""

import torch


def passes_gradcheck(fn, *inputs):
    copies = tuple(x.detach().clone().double().requires_grad_() for x in inputs)
    try:
        return torch.autograd.gradcheck(fn, copies) and torch.autograd.gradgradcheck(fn, copies)
    except Exception:
        return False
