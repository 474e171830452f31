"""The hook doubles in a name of its own, and returns the old gradient."""


def double_gradient(y):
    def hook(grad):
        doubled = grad * 2
        return grad

    return y.register_hook(hook)
