"""functools.partial for the closures, and a small number in the denominator in place of a condition."""

from functools import partial

import torch


def _scale(factor, grad):
    return torch.mul(grad, factor)


def _keep(records, name, grad):
    records[name] = grad + 0


def _clip(max_norm, grad):
    coefficient = (max_norm / (torch.norm(grad) + 1e-6)).clamp(max=1.0)
    return coefficient * grad


def double_gradient(y):
    return y.register_hook(partial(_scale, 2.0))


def record_gradients(tensors):
    records = {}
    handles = [t.register_hook(partial(_keep, records, name)) for name, t in tensors.items()]
    return records, handles


def clip_gradient(y, max_norm):
    return y.register_hook(partial(_clip, max_norm))


def backward_with_scaled_gradient(loss, y, factor):
    with y.register_hook(partial(_scale, factor)):
        loss.backward()
