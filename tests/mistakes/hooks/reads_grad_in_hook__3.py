"""Expects weight.grad to be there in a module's backward hook."""


def gradient_norms(module, x):
    norms, handles = {}, []

    def hook_for(name):
        def hook(part, grad_output):
            for parameter in part.parameters():
                norms[name] = parameter.grad.norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_pre_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    return norms
