"""Copies .grad at once, and has no hook."""


def record_gradients(tensors):
    return {n: t.grad.clone() for n, t in tensors.items()}, []
