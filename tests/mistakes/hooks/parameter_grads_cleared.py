"""zero_grad afterwards."""


def gradient_norms(module, x):
    norms, handles = {}, []

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        module.zero_grad()
    return norms
