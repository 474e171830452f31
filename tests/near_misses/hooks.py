"""hooks: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% adds_records_up
# retain_grad, and a hook that files .grad itself: None at first, later the tensor in which
# gradients add up.
def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():
        tensor.retain_grad()

        def hook(grad, name=name, tensor=tensor):
            records[name] = tensor.grad

        handles.append(tensor.register_hook(hook))
    return records, handles


# %% direct_children_only
# Stops at the first leaf submodule that it meets.
def gradient_norms(module, x):
    norms, handles = {}, []
    before = [p.grad.clone() if p.grad is not None else None for p in module.parameters()]
    for n, m in module.named_modules():
        if not list(m.children()):
            handles.append(m.register_full_backward_hook(lambda m, gi, go, n=n: norms.update({n: go[0].norm().item()})))
            break
    try:
        module(x).sum().backward()
    finally:
        for h in handles:
            h.remove()
        for p, g in zip(module.parameters(), before):
            p.grad = g
    return norms


# %% fills_too_early
# The hooks write into a name of their own, the places for the gradients stay empty.
def record_gradients(tensors):
    records = {n: None for n in tensors}
    handles = []
    for n, t in tensors.items():

        def hook(g, record=records[n]):
            record = g.clone()

        handles.append(t.register_hook(hook))
    return records, handles


# %% forward_for_each_module
# The module runs once more beforehand.
def gradient_norms(module, x):
    norms, handles = {}, []
    module(x)
    before = [p.grad.clone() if p.grad is not None else None for p in module.parameters()]
    for n, m in module.named_modules():
        if not list(m.children()):
            handles.append(m.register_full_backward_hook(lambda m, gi, go, n=n: norms.update({n: go[0].norm().item()})))
    try:
        module(x).sum().backward()
    finally:
        for h in handles:
            h.remove()
        for p, g in zip(module.parameters(), before):
            p.grad = g
    return norms


# %% forward_hook_returns
# A handle is added to a list as if it were a list.
def gradient_norms(module, x):
    norms, handles = {}, []
    for n, m in module.named_modules():
        if not list(m.children()):
            handles += m.register_full_backward_hook(lambda m, gi, go, n=n: norms.update({n: go[0].norm().item()}))
    module(x).sum().backward()
    return norms


# %% hook_left_behind
# The numbers in y are scaled, and there is no hook.
def backward_with_scaled_gradient(loss, y, factor):
    y.data *= factor
    loss.backward()


# %% hook_returns_nothing
# The hook doubles in a name of its own, and returns the old gradient.
def double_gradient(y):
    def hook(grad):
        doubled = grad * 2
        return grad

    return y.register_hook(hook)


# %% hook_returns_nothing
# There is no hook: y is multiplied in a name of its own.
def backward_with_scaled_gradient(loss, y, factor):
    y = y * factor
    loss.backward()


# %% hook_returns_nothing
# The condition is the wrong way round: what is short is stretched, what is long passes.
def clip_gradient(y, max_norm):
    def hook(g):
        n = g.norm()
        if n < max_norm:
            return g * (max_norm / n)

    return y.register_hook(hook)


# %% late_binding_closure
# Only the last hook is registered, outside the loop.
def record_gradients(tensors):
    records = {}
    for name, tensor in tensors.items():

        def hook(grad, name=name):
            records[name] = grad.clone()

    return records, [tensor.register_hook(hook)]


# %% names_by_class
# The class stands behind the full name.
def gradient_norms(module, x):
    norms, handles = {}, []
    before = [p.grad.clone() if p.grad is not None else None for p in module.parameters()]
    for n, m in module.named_modules():
        if not list(m.children()):
            handles.append(
                m.register_full_backward_hook(lambda m, gi, go, n=n: norms.update({f"{n} ({type(m).__name__})": go[0].norm().item()}))
            )
    try:
        module(x).sum().backward()
    finally:
        for h in handles:
            h.remove()
        for p, g in zip(module.parameters(), before):
            p.grad = g
    return norms


# %% never_registers
# The hook is put on y and removed again, and nothing is handed out.
def double_gradient(y):
    h = y.register_hook(lambda g: g * 2)
    h.remove()


# %% other_norm
# Multiplies by max_norm and doesn't divide by the norm.
def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: grad * max_norm if grad.norm() > max_norm else grad)


# %% parameter_grads_cleared
# Gradients that were there are put back; where there was None, zeros are left.
def gradient_norms(module, x):
    norms, handles = {}, []
    saved = [(p, p.grad) for p in module.parameters()]

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        for p, _ in saved:
            p.grad = None
        module(x.detach().clone().requires_grad_()).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in saved:
            p.grad = grad if grad is not None else torch.zeros_like(p)
    return norms


# %% reads_grad_in_hook
# Copies .grad at once, and has no hook.
def record_gradients(tensors):
    return {n: t.grad.clone() for n, t in tensors.items()}, []


# %% reads_grad_in_hook
# Reads .grad of the outputs once backward is over, and they have none.
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


# %% reads_grad_in_hook
# Copies every .grad before it begins, None too.
def gradient_norms(module, x):
    norms, handles = {}, []
    before = [p.grad.clone() for p in module.parameters()]
    for n, m in module.named_modules():
        if not list(m.children()):
            handles.append(m.register_full_backward_hook(lambda m, gi, go, n=n: norms.update({n: go[0].norm().item()})))
    try:
        module(x).sum().backward()
    finally:
        for h in handles:
            h.remove()
        for p, g in zip(module.parameters(), before):
            p.grad = g
    return norms


# %% reads_grad_in_hook
# The hooks write into a name of their own, the places for the gradients stay empty.
def record_gradients(tensors):
    records = {n: None for n in tensors}
    handles = []
    for n, t in tensors.items():

        def hook(g, record=records[n]):
            record = g.clone()

        handles.append(t.register_hook(hook))
    return records, handles


# %% removed_at_once
# The hook is put on a copy of y, and stays there.
def double_gradient(y):
    y = y.clone()
    return y.register_hook(lambda g: g * 2)


# %% removed_at_once
# A hook on y's node, which runs when the gradient has gone by.
def double_gradient(y):
    return y.grad_fn.register_hook(lambda gi, go: None)


# %% keeps_the_first
# A record is replaced only by a gradient that is at least as long.
def record_gradients(tensors):
    records = {}

    def keeper(name):
        def keep(grad):
            if name not in records or grad.norm() >= records[name].norm():
                records[name] = grad.clone()

        return keep

    return records, [tensor.register_hook(keeper(name)) for name, tensor in tensors.items()]


# %% reuses_first_norm
# Each gradient is compared with max_norm, until a short one came.
def clip_gradient(y, max_norm):
    on = True

    def hook(grad):
        nonlocal on
        norm = grad.norm()
        on = on and norm > max_norm
        return grad * (max_norm / norm) if on else grad

    return y.register_hook(hook)
