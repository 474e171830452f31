"""Parameters stand still while backward runs, so they get no gradient; the error of backward is put into words."""


def gradient_norms(module, x):
    norms, handles = {}, []
    wanted = {p: p.requires_grad for p in module.parameters()}

    def watch(name):
        def hook(part, grad_input, grad_output):
            norms[name] = sum(float(number) ** 2 for number in grad_output[0].flatten()) ** 0.5

        return hook

    def visit(part, prefix):
        children = list(part.named_children())
        if not children:
            handles.append(part.register_full_backward_hook(watch(prefix)))
        for name, child in children:
            visit(child, f"{prefix}.{name}" if prefix else name)

    visit(module, "")
    try:
        module.requires_grad_(False)
        module(x.detach().clone().requires_grad_()).sum().backward()
    finally:
        for p, wants in wanted.items():
            p.requires_grad_(wants)
        while handles:
            handles.pop().remove()
    return norms


class BackwardFailed(Exception):
    pass


def backward_with_scaled_gradient(loss, y, factor):
    handle = y.register_hook(lambda grad: grad * factor)
    try:
        loss.backward()
    except Exception as error:
        raise BackwardFailed(str(error)) from error
    finally:
        handle.remove()
