"""register_multi_grad_hook watches all tensors with one handle; module hooks are entered into an ExitStack."""

from contextlib import ExitStack

import torch
from torch.autograd.graph import register_multi_grad_hook


def record_gradients(tensors):
    records = {}

    def keep(grads):
        for name, grad in zip(tensors, grads, strict=True):
            if grad is not None:
                records[name] = grad.detach().clone()

    return records, [register_multi_grad_hook(list(tensors.values()), keep)]


def backward_with_scaled_gradient(loss, y, factor):
    with ExitStack() as stack:
        stack.callback(y.register_hook(lambda grad: grad * factor).remove)
        loss.backward()


def gradient_norms(module, x):
    norms = {}
    outputs = {}

    def remember(name):
        def hook(part, inputs, output):
            outputs[name] = output

        return hook

    with ExitStack() as stack:
        for name, part in module.named_modules():
            if not part._modules:
                stack.enter_context(part.register_forward_hook(remember(name)))
        total = module(x).sum()
    grads = torch.autograd.grad(total, list(outputs.values()))
    for name, grad in zip(outputs, grads, strict=True):
        norms[name] = float(grad.norm())
    return norms
