"""Backward pre-hooks, which get grad_output alone; gradients only asked for with respect to x."""

import torch


def gradient_norms(module, x):
    x = x.clone().detach().requires_grad_(True)
    result = {}

    def pre_hook(name):
        return lambda part, grad_output: result.__setitem__(name, grad_output[0].norm(2).item())

    handles = [
        part.register_full_backward_pre_hook(pre_hook(name)) for name, part in module.named_modules() if list(part.modules()) == [part]
    ]
    try:
        torch.autograd.grad(module(x).sum(), x)
    finally:
        for handle in handles:
            handle.remove()
    return result


def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: grad.reshape(1, -1).renorm(2, 0, max_norm).reshape(grad.shape) if grad.numel() else grad)


def double_gradient(y):
    return y.register_hook(lambda g: torch.add(g, g))
