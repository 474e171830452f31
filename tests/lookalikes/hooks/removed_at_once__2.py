"""A hook on y's node, which runs when the gradient has gone by."""


def double_gradient(y):
    return y.grad_fn.register_hook(lambda gi, go: None)
