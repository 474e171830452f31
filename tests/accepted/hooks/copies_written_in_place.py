"""Works in place, but on copies of its own; and keeps parameters' gradients by copying them back."""

import copy


def double_gradient(y):
    def hook(grad):
        grad = grad.clone()
        grad *= 2
        return grad

    return y.register_hook(hook)


def record_gradients(tensors):
    records = {}

    def hook_for(name):
        def hook(grad):
            records[name] = copy.deepcopy(grad.detach())
            return None

        return hook

    return records, [tensors[name].register_hook(hook_for(name)) for name in sorted(tensors)]


def clip_gradient(y, max_norm):
    def hook(grad):
        clipped = grad.clone()
        length = clipped.flatten().norm(p=2)
        if length > max_norm:
            clipped.div_(length).mul_(max_norm)
        return clipped

    return y.register_hook(hook)


def gradient_norms(module, x):
    norms = {}
    handles = []
    before = {p: None if p.grad is None else p.grad.detach().clone() for p in module.parameters()}

    def make_hook(name):
        def hook(m, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    for name, m in module.named_modules():
        if len(list(m.children())) == 0:
            handles.append(m.register_full_backward_hook(make_hook(name)))
    try:
        module(x).sum().backward()
    finally:
        for h in handles:
            h.remove()
        for p, grad in before.items():
            p.grad = grad
    return norms
