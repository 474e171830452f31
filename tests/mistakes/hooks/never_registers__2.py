"""Hands back the method, and never calls it."""


def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        return grad * max_norm / norm if norm > max_norm else grad

    if hook is None:
        y.register_hook(hook)
    return y.register_hook
