"""F.normalize, then the wanted length."""

from torch.nn import functional


def clip_gradient(y, max_norm):
    def hook(grad):
        return max_norm * functional.normalize(grad.flatten(), dim=0).reshape(grad.shape)

    return y.register_hook(hook)
