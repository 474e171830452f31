"""The older register_backward_hook, as tutorials of some years ago have it."""

import torch


def gradient_norms(module, x):
    norms = {}
    handles = []
    saved = [(p, p.grad) for p in module.parameters()]
    try:
        for name, part in module.named_modules():
            if not list(part.children()):

                def hook(_part, _grad_input, grad_output, name=name):
                    norms[name] = float(grad_output[0].norm())

                handles.append(part.register_backward_hook(hook))
        for p, _ in saved:
            p.grad = None
        out = module(x)
        torch.sum(out).backward()
    finally:
        [handle.remove() for handle in handles]
        for p, grad in saved:
            p.grad = grad
    return norms


def record_gradients(tensors):
    records = {}
    handles = [t.register_hook(lambda g, n=n: records.update({n: torch.clone(g)})) for n, t in tensors.items()]
    return records, handles


def clip_gradient(y, max_norm):
    def hook(g):
        n = torch.linalg.norm(g)
        return torch.where(n > max_norm, g * max_norm / torch.clamp(n, min=1e-12), g)

    return y.register_hook(hook)
