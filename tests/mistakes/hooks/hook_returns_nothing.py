"""Prints the doubled gradient instead of returning it."""


def double_gradient(y):
    return y.register_hook(lambda grad: print("grad", grad * 2))
