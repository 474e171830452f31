"""Takes gradients from backward, which returns None."""

import torch


def linear_gradients(x, w, b):
    t = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (x, w, b)]
    gx, gw, gb = torch.autograd.backward((t[0] * t[1] + t[2]) ** 2)
    return gx.item(), gw.item(), gb.item()
