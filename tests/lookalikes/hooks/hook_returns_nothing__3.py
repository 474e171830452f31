"""The condition is the wrong way round: what is short is stretched, what is long passes."""


def clip_gradient(y, max_norm):
    def hook(g):
        n = g.norm()
        if n < max_norm:
            return g * (max_norm / n)

    return y.register_hook(hook)
