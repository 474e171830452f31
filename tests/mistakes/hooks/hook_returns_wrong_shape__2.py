"""The same with Python's min."""


def clip_gradient(y, max_norm):
    def hook(grad):
        return min(grad.norm().item(), max_norm)

    return y.register_hook(hook)
