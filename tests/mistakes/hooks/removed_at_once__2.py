"""Returns from inside a with block, which removes the hook on the way out."""


def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        return grad * (max_norm / norm) if norm > max_norm else grad

    with y.register_hook(hook) as handle:
        return handle
