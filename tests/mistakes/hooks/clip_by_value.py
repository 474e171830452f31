"""clamp on the elements."""


def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: grad.clamp(-max_norm, max_norm))
