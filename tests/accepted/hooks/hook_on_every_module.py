"""One hook for all modules that there are; only those of this module are looked at."""

import torch
import torch.nn.modules.module as M


def double_gradient(y):
    handle = y.register_hook(_twice)
    return handle


def _twice(g):
    return 2.0 * g


def record_gradients(tensors):
    records = {}

    def listen(item):
        name, t = item
        return t.register_hook(lambda g: (records.update([(name, g.clone())]), None)[1])

    return records, [listen(i) for i in tensors.items()]


def clip_gradient(y, max_norm):
    return y.register_hook(lambda g: g * (max_norm / max(max_norm, g.norm().item())))


def backward_with_scaled_gradient(loss, y, factor):
    try:
        h = y.register_hook(lambda g: g * factor)
        loss.backward(inputs=None)
    finally:
        h.remove()


def gradient_norms(module, x):
    names = {id(m): n for n, m in module.named_modules() if len(m._modules) == 0}
    out = {}

    def hook(m, gi, go):
        if id(m) in names:
            out[names[id(m)]] = go[0].norm(2).item()

    params = list(module.parameters())
    grads = [p.grad if p.grad is None else p.grad.detach().clone() for p in params]
    h = torch.nn.modules.module.register_module_full_backward_hook(hook)
    try:
        for p in params:
            p.grad = None
        loss = module(x).sum()
        loss.backward()
        return out
    finally:
        h.remove()
        for p, g in zip(params, grads):
            p.grad = g
