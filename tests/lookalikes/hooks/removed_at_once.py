"""The hook is put on a copy of y, and stays there."""


def double_gradient(y):
    y = y.clone()
    return y.register_hook(lambda g: g * 2)
