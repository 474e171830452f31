"""Drops every handle but the last."""


def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    for name, part in module.named_modules():
        if not list(part.children()):
            handles.append(part.register_full_backward_hook(hook_for(name)))
    module(x).sum().backward()
    handles[-1].remove()
    for p, grad in kept:
        p.grad = grad
    return norms
