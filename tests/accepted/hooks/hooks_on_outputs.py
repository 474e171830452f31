"""Forward hooks that put a tensor hook on each output; numpy does the arithmetic of the clip."""

import numpy as np
import torch


def clip_gradient(y, max_norm):
    def hook(grad):
        values = grad.detach().numpy()
        length = float(np.sqrt((values.astype(np.float64) ** 2).sum()))
        if length <= max_norm:
            return grad
        return torch.from_numpy(np.asarray(values * (max_norm / length))).to(grad.dtype)

    return y.register_hook(hook)


def gradient_norms(module, x):
    norms = {}
    handles = []

    def watch(name, part):
        def forward_hook(_part, _args, output):
            def tensor_hook(grad):
                norms[name] = grad.norm().item()

            output.register_hook(tensor_hook)

        handles.append(part.register_forward_hook(forward_hook))

    for name, part in module.named_modules():
        if not any(True for _ in part.children()):
            watch(name, part)
    grads = [p.grad for p in module.parameters()]
    for p in module.parameters():
        p.grad = None
    try:
        module(x).sum().backward()
    finally:
        for h in handles:
            h.remove()
        for p, grad in zip(module.parameters(), grads, strict=True):
            p.grad = grad
    return norms
