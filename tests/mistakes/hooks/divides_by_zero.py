"""The quotient as a Python number."""


def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: grad * min(1.0, max_norm / grad.norm().item()))
