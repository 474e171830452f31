"""records has its names from the start, without gradients; the hook hands the gradient on; a tuple of handles made a list."""

import torch


def record_gradients(tensors):
    records = dict.fromkeys(tensors)
    handles = ()
    for key, tensor in tensors.items():

        def hook(grad, *, key=key):
            records[key] = torch.clone(grad).detach()
            return grad

        handles += (tensor.register_hook(hook),)
    return records, list(handles)


def double_gradient(y):
    def hook(grad):
        print("gradient at y:", grad)
        return grad / 0.5

    handle = y.register_hook(hook)
    return handle


def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.square().sum().sqrt().item()
        factor = 1
        if norm > max_norm:
            factor = max_norm / norm
        return grad * factor

    handle = y.register_hook(hook)
    return handle
