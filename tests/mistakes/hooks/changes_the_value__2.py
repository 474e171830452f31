"""Clips y, the value."""


def clip_gradient(y, max_norm):
    norm = y.norm()
    return y * (max_norm / norm).clamp(max=1)
