"""Reads .grad of the outputs once backward is over, and they have none."""


def gradient_norms(module, x):
    outs, handles = {}, []
    before = [p.grad for p in module.parameters()]
    for n, m in module.named_modules():
        if not list(m.children()):
            handles.append(m.register_forward_hook(lambda m, a, o, n=n: outs.update({n: o})))
    try:
        module(x).sum().backward()
    finally:
        for h in handles:
            h.remove()
        for p, g in zip(module.parameters(), before):
            p.grad = g
    return {n: o.grad.norm().item() for n, o in outs.items()}
