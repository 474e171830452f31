"""The root is missing."""


def clip_gradient(y, max_norm):
    def hook(grad):
        norm = (grad**2).sum()
        if norm > max_norm:
            return grad * max_norm / norm

    return y.register_hook(hook)
