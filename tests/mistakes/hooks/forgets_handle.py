"""Registers, and returns nothing."""


def double_gradient(y):
    y.register_hook(lambda grad: grad * 2)


def clip_gradient(y, max_norm):
    y.register_hook(lambda grad: grad * (max_norm / grad.norm().clamp(min=1e-12)).clamp(max=1))
