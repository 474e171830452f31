"""mul_ to save memory, and the result is returned, so it looks right."""


def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        if norm > max_norm:
            grad.mul_(max_norm / norm)
        return grad

    return y.register_hook(hook)
