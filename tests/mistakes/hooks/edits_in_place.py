"""Doubles in place, in the belief that the hook's argument is its own."""


def double_gradient(y):
    def hook(grad):
        grad *= 2

    return y.register_hook(hook)
