"""A forward and a backward for each leaf."""


def gradient_norms(module, x):
    norms = {}
    kept = [(p, p.grad) for p in module.parameters()]
    for name, part in module.named_modules():
        if list(part.children()):
            continue
        for p, _ in kept:
            p.grad = None
        handle = part.register_full_backward_hook(
            lambda part, grad_input, grad_output, name=name: norms.update({name: grad_output[0].norm().item()})
        )
        try:
            module(x).sum().backward()
        finally:
            handle.remove()
    for p, grad in kept:
        p.grad = grad
    return norms
