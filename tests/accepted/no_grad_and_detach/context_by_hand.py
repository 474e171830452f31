"""__enter__ and __exit__ called by hand, torch.where for a cut, torch.dist for the loss."""

import torch


def predict(f, x):
    ctx = torch.no_grad()
    ctx.__enter__()
    try:
        r = f(x)
    finally:
        ctx.__exit__(None, None, None)
    return r


def cut(y):
    return torch.zeros_like(y).where(torch.zeros_like(y, dtype=torch.bool), y.detach())


def split_backward(x, first, second):
    y = first(x)
    leaf = y.detach()
    leaf.requires_grad_()
    z = second(leaf)
    gw = torch.autograd.grad(outputs=z, inputs=leaf)[0]
    before = 0 if x.grad is None else x.grad.clone()
    y.backward(gw)
    gx = x.grad - before
    return gx, gw


def bootstrap_loss(online, target):
    fixed = target.detach()
    fixed.requires_grad_(False)
    return torch.dist(online, fixed, p=2) ** 2 / online.numel()
