"""One hook on all modules at large, which looks a module's name up; taken away again."""

import torch
from torch.nn.modules.module import register_module_full_backward_hook


def gradient_norms(module, x):
    names = {part: name for name, part in module.named_modules() if not list(part.children())}
    norms = {}

    def hook(part, grad_input, grad_output):
        if part in names:
            norms[names[part]] = grad_output[0].norm().item()

    grads = {p: p.grad for p in module.parameters()}
    for p in grads:
        p.grad = None
    handle = register_module_full_backward_hook(hook)
    try:
        out = module(x)
        out.backward(torch.ones_like(out))
    finally:
        handle.remove()
        for p, grad in grads.items():
            p.grad = grad
    return norms
