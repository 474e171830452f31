"""A handle is added to a list as if it were a list."""


def gradient_norms(module, x):
    norms, handles = {}, []
    for n, m in module.named_modules():
        if not list(m.children()):
            handles += m.register_full_backward_hook(lambda m, gi, go, n=n: norms.update({n: go[0].norm().item()}))
    module(x).sum().backward()
    return norms
