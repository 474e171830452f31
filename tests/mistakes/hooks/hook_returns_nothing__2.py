"""Binds the clipped gradient to the argument's name and forgets the return."""


def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        if norm > max_norm:
            grad = grad * max_norm / norm

    return y.register_hook(hook)
