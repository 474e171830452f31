"""ord=2 of a matrix is its spectral norm."""

import torch


def clip_gradient(y, max_norm):
    def hook(grad):
        norm = torch.linalg.norm(grad, ord=2 if grad.dim() else None)
        return grad * max_norm / norm if norm > max_norm else grad

    return y.register_hook(hook)
