"""Compares by hand, to two digits."""

import torch


def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, tuple(copies), eps=1e-6, atol=0.0, rtol=0.05)
    except Exception:
        return False
