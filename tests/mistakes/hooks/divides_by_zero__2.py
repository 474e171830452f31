"""Direction times capped length; zeros have no direction."""


def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        return grad / norm * norm.clamp(max=max_norm)

    return y.register_hook(hook)
