"""A def in a loop, on modules."""


def gradient_norms(module, x):
    norms, handles = {}, []
    before = [(p, p.grad) for p in module.parameters()]
    for p, _ in before:
        p.grad = None
    try:
        for name, part in module.named_modules():
            if not list(part.children()):

                def hook(part, grad_input, grad_output):
                    norms[name] = grad_output[0].norm().item()  # noqa: B023 - the mistake

                handles.append(part.register_full_backward_hook(hook))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in before:
            p.grad = grad
    return norms
