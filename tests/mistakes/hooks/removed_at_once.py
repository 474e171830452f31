"""Cleans up after itself, too early."""


def double_gradient(y):
    handle = y.register_hook(lambda grad: grad * 2)
    handle.remove()
    return handle
