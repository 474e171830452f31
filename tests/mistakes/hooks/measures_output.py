"""A forward hook: it sees outputs."""


def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, args, output):
            norms[name] = output.norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_forward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms
