"""retain_grad on each module's output, and backward told to put gradients there and nowhere else."""

import torch


def gradient_norms(module, x):
    outputs = {}
    handles = []
    for name, part in module.named_modules():
        if not list(part.children()):
            handles.append(part.register_forward_hook(lambda _part, _args, output, name=name: outputs.__setitem__(name, output)))
    try:
        total = module(x).sum()
    finally:
        for handle in handles:
            handle.remove()
    total.backward(inputs=list(outputs.values()))
    return {name: output.grad.norm().item() for name, output in outputs.items()}


def backward_with_scaled_gradient(loss, y, factor):
    handle = None
    try:
        handle = y.register_hook(lambda grad: grad * factor)
        torch.autograd.backward(loss)
    finally:
        if handle is not None:
            handle.remove()
