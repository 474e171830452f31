"""Reads the weights' gradients after backward."""


def gradient_norms(module, x):
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None
    module(x).sum().backward()
    norms = {name: part.weight.grad.norm().item() for name, part in module.named_modules() if hasattr(part, "weight")}
    for p, grad in kept:
        p.grad = grad
    return norms
