"""Returns y, to be chained."""


def double_gradient(y):
    y.register_hook(lambda grad: grad * 2)
    return y
