"""hooks: wrong answers. A cell shows the definitions that differ from the solution."""


# %% adds_records_up
# Adds, as .grad does.
def record_gradients(tensors):
    records = {}

    def hook_for(name):
        def hook(grad):
            records[name] = records.get(name, 0) + grad

        return hook

    return records, [tensor.register_hook(hook_for(name)) for name, tensor in tensors.items()]


# %% adds_records_up
# Reads the leaves' .grad, where gradients add up.
def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():
        if tensor.is_leaf:
            handles.append(
                tensor.register_post_accumulate_grad_hook(
                    lambda leaf, name=name: records.update({name: leaf.grad.clone()})
                )
            )
        else:
            handles.append(
                tensor.register_hook(lambda grad, name=name: records.update({name: grad.clone()}))
            )
    return records, handles


# %% always_normalises
# No condition.
def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: grad / (grad.norm() + 1e-8) * max_norm)


# %% always_normalises
# F.normalize, then the wanted length.
from torch.nn import functional


def clip_gradient(y, max_norm):
    def hook(grad):
        return max_norm * functional.normalize(grad.flatten(), dim=0).reshape(grad.shape)

    return y.register_hook(hook)


# %% always_normalises
# A short gradient is stretched to max_norm.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm().item()
        return grad * max(1.0, max_norm / norm) if norm else grad

    return y.register_hook(hook)


# %% averages_the_output
# mean, as losses have it.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).mean().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% clears_leaf_grads
# Walks to the leaves and clears their gradients first.
def backward_with_scaled_gradient(loss, y, factor):
    nodes = [loss.grad_fn]
    while nodes:
        node = nodes.pop()
        if hasattr(node, "variable"):
            node.variable.grad = None
        nodes += [one for one, _ in node.next_functions if one is not None]
    with y.register_hook(lambda grad: grad * factor):
        loss.backward()


# %% clip_by_value
# clamp on the elements.
def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: grad.clamp(-max_norm, max_norm))


# %% clip_by_value
# clip_grad_value_ where clip_grad_norm_ was meant.
from torch.nn.utils import clip_grad_value_


def clip_gradient(y, max_norm):
    def hook(grad):
        holder = nn.Parameter(torch.zeros_like(grad))
        holder.grad = grad.clone()
        clip_grad_value_(holder, max_norm)
        return holder.grad

    return y.register_hook(hook)


# %% clips_each_row
# The norm of each row, as for a batch.
def clip_gradient(y, max_norm):
    def hook(grad):
        norms = grad.norm(dim=-1, keepdim=True)
        return grad * (max_norm / norms.clamp(min=1e-12)).clamp(max=1)

    return y.register_hook(hook)


# %% clips_each_row
# renorm along dimension 0 clips each slice.
def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: grad.renorm(2, 0, max_norm))


# %% common_none_used
# Copies .grad inside the hook.
def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():

        def hook(grad, name=name, tensor=tensor):
            records[name] = tensor.grad.clone()

        handles.append(tensor.register_hook(hook))
    return records, handles


# %% common_none_used
# Expects weight.grad to be there in a module's backward hook.
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


# %% common_view_of_noncontiguous
# Flattens with view.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = torch.dot(grad.view(-1), grad.view(-1)).sqrt()
        return grad * max_norm / norm if norm > max_norm else grad

    return y.register_hook(hook)


# %% common_wrong_dtype
# Records everything as float64.
def record_gradients(tensors):
    records = {}

    def keep(name):
        return lambda grad: records.update({name: grad.detach().clone().to(torch.float64)})

    return records, [tensor.register_hook(keep(name)) for name, tensor in tensors.items()]


# %% common_wrong_type
# No item().
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% detaches_x
# detach_ where detach was meant.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x.detach_().requires_grad_()).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% direct_children_only
# named_children stops at the first level.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_children():
            handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% direct_children_only
# Children of the module that are leaves, and no further.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_children():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% divides_by_zero
# The quotient as a Python number.
def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: grad * min(1.0, max_norm / grad.norm().item()))


# %% divides_by_zero
# Direction times capped length; zeros have no direction.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        return grad / norm * norm.clamp(max=max_norm)

    return y.register_hook(hook)


# %% drops_other_paths
# backward stops at y and continues from there with the scaled gradient.
def backward_with_scaled_gradient(loss, y, factor):
    (grad,) = torch.autograd.grad(loss, y, retain_graph=True)
    y.backward(grad * factor)


# %% edits_in_place
# Doubles in place, in the belief that the hook's argument is its own.
def double_gradient(y):
    def hook(grad):
        grad *= 2

    return y.register_hook(hook)


# %% edits_in_place
# mul_ to save memory, and the result is returned, so it looks right.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        if norm > max_norm:
            grad.mul_(max_norm / norm)
        return grad

    return y.register_hook(hook)


# %% edits_in_place
# The same when scaling for one backward.
def backward_with_scaled_gradient(loss, y, factor):
    handle = y.register_hook(lambda grad: grad.mul_(factor))
    try:
        loss.backward()
    finally:
        handle.remove()


# %% edits_in_place
# contiguous() copies only what is not contiguous yet.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        if norm > max_norm:
            grad = grad.contiguous()
            grad.mul_(max_norm / norm)
        return grad

    return y.register_hook(hook)


# %% fills_too_early
# Reads .grad at once.
def record_gradients(tensors):
    for tensor in tensors.values():
        if not tensor.is_leaf:
            tensor.retain_grad()
    records = {name: tensor.grad for name, tensor in tensors.items()}
    return records, []


# %% forgets_handle
# An empty list of handles: none was put into it.
def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: records.__setitem__(name, grad.clone()))
    return records, handles


# %% forgets_handle
# Returns y, to be chained.
def double_gradient(y):
    y.register_hook(lambda grad: grad * 2)
    return y


# %% forgets_handle
# Returns the records alone.
def record_gradients(tensors):
    records = {}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: records.__setitem__(name, grad.clone()))
    return records


# %% forgets_handle
# Registers, and returns nothing.
def double_gradient(y):
    y.register_hook(lambda grad: grad * 2)


# %% forgets_handle
# The same for a clip.
def clip_gradient(y, max_norm):
    y.register_hook(lambda grad: grad * (max_norm / grad.norm().clamp(min=1e-12)).clamp(max=1))


# %% forward_for_each_module
# A forward and a backward for each leaf.
def gradient_norms(module, x):
    norms = {}
    kept = [(p, p.grad) for p in module.parameters()]
    for name, part in module.named_modules():
        if list(part.children()):
            continue
        for p, _ in kept:
            p.grad = None
        handle = part.register_full_backward_hook(
            lambda part, grad_input, grad_output, name=name: norms.update(
                {name: grad_output[0].norm().item()}
            )
        )
        try:
            module(x).sum().backward()
        finally:
            handle.remove()
    for p, grad in kept:
        p.grad = grad
    return norms


# %% forward_hook_returns
# A lambda whose value is the handle of a second hook.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(grad):
            norms[name] = grad.norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                keep = hook_for(name)
                handles.append(
                    part.register_forward_hook(
                        lambda part, args, output, keep=keep: output.register_hook(keep)
                    )
                )
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% grads_restored_only_on_success
# The hooks are removed under finally, the gradients restored after it.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

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
    for p, grad in kept:
        p.grad = grad
    return norms


# %% hook_left_behind
# The handle is dropped.
def backward_with_scaled_gradient(loss, y, factor):
    y.register_hook(lambda grad: grad * factor)
    loss.backward()


# %% hook_left_behind
# Names the handle, never removes it.
def backward_with_scaled_gradient(loss, y, factor):
    def scale(grad):
        return grad * factor

    handle = y.register_hook(scale)
    loss.backward()
    del handle


# %% hook_returns_no_gradient
# Returns the capped norm, a number, as if it were the gradient.
def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: torch.clamp(grad.norm(), max=max_norm))


# %% hook_returns_no_gradient
# The same with Python's min.
def clip_gradient(y, max_norm):
    def hook(grad):
        return min(grad.norm().item(), max_norm)

    return y.register_hook(hook)


# %% hook_returns_nothing
# Prints the doubled gradient instead of returning it.
def double_gradient(y):
    return y.register_hook(lambda grad: print("grad", grad * 2))


# %% hook_returns_nothing
# Binds the clipped gradient to the argument's name and forgets the return.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        if norm > max_norm:
            grad = grad * max_norm / norm

    return y.register_hook(hook)


# %% hook_returns_nothing
# Multiplies and drops the product.
def backward_with_scaled_gradient(loss, y, factor):
    def hook(grad):
        torch.mul(grad, factor)

    handle = y.register_hook(hook)
    try:
        loss.backward()
    finally:
        handle.remove()


# %% hooks_all_results
# A hook on y's node, after it ran: it doubles what the node passes on for all of its results.
def double_gradient(y):
    def twice(passed, arrived):
        return tuple(None if grad is None else grad + grad for grad in passed)

    return y.grad_fn.register_hook(twice)


# %% includes_containers
# Hooks every module there is.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% includes_containers
# Leaves out only the module itself.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if name:
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% keeps_the_first
# Writes only where there is nothing yet.
def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():

        def hook(grad, name=name):
            if name not in records:
                records[name] = grad.clone()

        handles.append(tensor.register_hook(hook))
    return records, handles


# %% keeps_the_first
# setdefault does not replace.
def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():

        def hook(grad, name=name):
            records.setdefault(name, grad.detach().clone())

        handles.append(tensor.register_hook(hook))
    return records, handles


# %% late_binding_closure
# A lambda in a loop.
def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():
        handles.append(
            tensor.register_hook(lambda grad: records.update({name: grad.clone()}))
        )
    return records, handles


# %% late_binding_closure
# A def in a loop, on modules.
def gradient_norms(module, x):
    norms, handles = {}, []
    before = [(p, p.grad) for p in module.parameters()]
    for p, _ in before:
        p.grad = None
    try:
        for name, part in module.named_modules():
            if not list(part.children()):

                def hook(part, grad_input, grad_output):
                    norms[name] = grad_output[0].norm().item()  # the mistake

                handles.append(part.register_full_backward_hook(hook))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in before:
            p.grad = grad
    return norms


# %% late_binding_closure
# The same through a comprehension.
def record_gradients(tensors):
    records = {}

    def save(name, grad):
        records[name] = grad.clone()

    handles = [
        tensor.register_hook(lambda grad: save(name, grad)) for name, tensor in tensors.items()
    ]  # the mistake
    return records, handles


# %% leaves_evaluation_mode
# Measures in evaluation mode and stays in it.
def gradient_norms(module, x):
    norms, handles = {}, []
    module.eval()
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

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
        for p, grad in kept:
            p.grad = grad
    return norms


# %% leaves_parameters_frozen
# Freezes the parameters so that they get no gradient.
def gradient_norms(module, x):
    norms, handles = {}, []
    module.requires_grad_(False)

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x.detach().requires_grad_()).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    return norms


# %% measures_grad_input
# Takes the second argument for the gradient that comes in.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_input[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% measures_grad_input
# The same, with care for None.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = 0.0 if grad_input[0] is None else grad_input[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% measures_output
# A forward hook: it sees outputs.
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


# %% measures_weight_grad
# Reads the weights' gradients after backward.
def gradient_norms(module, x):
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None
    module(x).sum().backward()
    norms = {
        name: part.weight.grad.norm().item()
        for name, part in module.named_modules()
        if hasattr(part, "weight")
    }
    for p, grad in kept:
        p.grad = grad
    return norms


# %% measures_weight_grad
# Zero for modules without a weight.
def gradient_norms(module, x):
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None
    module(x).sum().backward()
    norms = {}
    for name, part in module.named_modules():
        if list(part.children()):
            continue
        norms[name] = part.weight.grad.norm().item() if hasattr(part, "weight") else 0.0
    for p, grad in kept:
        p.grad = grad
    return norms


# %% module_hooks_left
# Collects the handles and forgets them.
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
    for p, grad in kept:
        p.grad = grad
    return norms


# %% module_hooks_left
# Drops every handle but the last.
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


# %% module_hooks_left_after_error
# The hooks are removed only if nothing raises.
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
    for handle in handles:
        handle.remove()
    for p, grad in kept:
        p.grad = grad
    return norms


# %% names_by_class
# Class names as keys.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[type(part).__name__] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% names_by_class
# A running number after the class.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[f"{part.__class__.__name__}_{len(norms)}"] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% needs_grad_of_x
# Asks autograd for the gradient of x, to leave the parameters alone.
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
        torch.autograd.grad(module(x).sum(), x)
    finally:
        for handle in handles:
            handle.remove()
    return norms


# %% never_registers
# Doubles y and returns it.
def double_gradient(y):
    return y * 2


# %% never_registers
# Clips y, the value.
def clip_gradient(y, max_norm):
    norm = y.norm()
    return y * (max_norm / norm).clamp(max=1)


# %% never_registers
# Returns the hook itself.
def double_gradient(y):
    def hook(grad):
        return grad * 2

    return hook


# %% never_registers
# Hands back the method, and never calls it.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        return grad * max_norm / norm if norm > max_norm else grad

    if hook is None:
        y.register_hook(hook)
    return y.register_hook


# %% never_registers
# No hook is put anywhere, and y itself comes back.
def double_gradient(y):
    def hook(g):
        return 2 * g

    return y


# %% normalises_to_one
# Divides by the norm and stops there.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        return grad / norm if norm > max_norm else grad

    return y.register_hook(hook)


# %% not_removed_on_error
# remove() on the next line only.
def backward_with_scaled_gradient(loss, y, factor):
    handle = y.register_hook(lambda grad: grad * factor)
    loss.backward()
    handle.remove()


# %% not_removed_on_error
# Under else, where finally was meant.
def backward_with_scaled_gradient(loss, y, factor):
    handle = y.register_hook(lambda grad: factor * grad)
    try:
        loss.backward()
    except RuntimeError as error:
        raise ValueError(f"backward failed: {error}") from error
    else:
        handle.remove()


# %% not_removed_on_error
# A flag in place of remove(): it is taken down after backward, if backward comes to its end.
def backward_with_scaled_gradient(loss, y, factor):
    active = True
    y.register_hook(lambda grad: grad * factor if active else grad)
    loss.backward()
    active = False


# %% other_norm
# ord=2 of a matrix is its spectral norm.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = torch.linalg.norm(grad, ord=2 if grad.dim() else None)
        return grad * max_norm / norm if norm > max_norm else grad

    return y.register_hook(hook)


# %% other_norm
# The root is missing.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = (grad**2).sum()
        if norm > max_norm:
            return grad * max_norm / norm

    return y.register_hook(hook)


# %% parameter_grads_cleared
# zero_grad afterwards.
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


# %% parameter_grads_cleared
# Zeros in every .grad afterwards.
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
        module.zero_grad(set_to_none=False)
    return norms


# %% parameter_grads_left
# Does nothing about .grad.
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
    return norms


# %% parameter_grads_left
# Clears before, and leaves what came.
def gradient_norms(module, x):
    norms, handles = {}, []
    module.zero_grad()

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
    return norms


# %% parameter_grads_left
# Keeps the old tensors, and backward adds to these.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]

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
        for p, grad in kept:
            p.grad = grad
    return norms


# %% reads_grad_in_hook
# Stores .grad inside the hook.
def record_gradients(tensors):
    records = {}

    def hook_for(name, tensor):
        def hook(_):
            records[name] = tensor.grad

        return hook

    return records, [
        tensor.register_hook(hook_for(name, tensor)) for name, tensor in tensors.items()
    ]


# %% records_aliases
# Stores the gradient itself, without a copy.
def record_gradients(tensors):
    records = {}

    def hook_for(name):
        def hook(grad):
            records[name] = grad

        return hook

    return records, [tensor.register_hook(hook_for(name)) for name, tensor in tensors.items()]


# %% records_aliases
# Takes detach() for a copy.
def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():
        handles.append(
            tensor.register_hook(lambda grad, name=name: records.update({name: grad.detach()}))
        )
    return records, handles


# %% registers_once
# Keeps one hook for each tensor.
_registered = {}


def double_gradient(y):
    if id(y) not in _registered or _registered[id(y)][0] is not y:
        _registered[id(y)] = y, y.register_hook(lambda grad: grad * 2)
    return _registered[id(y)][1]


# %% removed_at_once
# Cleans up after itself, too early.
def double_gradient(y):
    handle = y.register_hook(lambda grad: grad * 2)
    handle.remove()
    return handle


# %% removed_at_once
# Returns from inside a with block, which removes the hook on the way out.
def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm()
        return grad * (max_norm / norm) if norm > max_norm else grad

    with y.register_hook(hook) as handle:
        return handle


# %% removes_callers_hooks
# Clears all hooks of y at the end, the caller's too.
def backward_with_scaled_gradient(loss, y, factor):
    y.register_hook(lambda grad: grad * factor)
    try:
        loss.backward()
    finally:
        y._backward_hooks.clear()


# %% retains_grad
# Thinks that a hook only runs where the gradient is retained.
def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():
        tensor.retain_grad()
        handles.append(
            tensor.register_hook(lambda grad, name=name: records.update({name: grad.clone()}))
        )
    return records, handles


# %% retains_grad
# Puts the gradient on the tensor, too.
def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():

        def hook(grad, name=name, tensor=tensor):
            records[name] = grad.clone()
            if not tensor.is_leaf:
                tensor.grad = grad.clone()

        handles.append(tensor.register_hook(hook))
    return records, handles


# %% retains_grad
# Thinks that the hook needs a retained gradient.
def backward_with_scaled_gradient(loss, y, factor):
    y.retain_grad()
    with y.register_hook(lambda grad: grad * factor):
        loss.backward()


# %% reuses_first_norm
# The factor is computed once.
def clip_gradient(y, max_norm):
    factors = []

    def hook(grad):
        if not factors:
            norm = grad.norm().item()
            factors.append(max_norm / norm if norm > max_norm else 1.0)
        return grad * factors[0]

    return y.register_hook(hook)


# %% scales_after_backward
# Edits y.grad when everything has already flowed past it.
def backward_with_scaled_gradient(loss, y, factor):
    y.retain_grad()
    loss.backward()
    y.grad = y.grad * factor


# %% scales_everything
# Scales the loss.
def backward_with_scaled_gradient(loss, y, factor):
    (loss * factor).backward()


# %% scales_everything
# The hook on the wrong tensor.
def backward_with_scaled_gradient(loss, y, factor):
    handle = loss.register_hook(lambda grad: grad * factor)
    try:
        loss.backward()
    finally:
        handle.remove()


# %% skips_the_module_itself
# Leaves out the empty name together with the containers.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for name, part in module.named_modules():
            if name and not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% starts_with_zeros
# Each record begins as zeros.
def record_gradients(tensors):
    records = {name: torch.zeros_like(tensor) for name, tensor in tensors.items()}

    def keep(name):
        return lambda grad: records.update({name: grad.clone()})

    return records, [tensor.register_hook(keep(name)) for name, tensor in tensors.items()]


# %% swallows_the_exception
# Reports the exception and goes on.
def backward_with_scaled_gradient(loss, y, factor):
    handle = y.register_hook(lambda grad: grad * factor)
    try:
        loss.backward()
    except Exception as error:
        print("backward failed:", error)
    finally:
        handle.remove()


# %% swallows_the_exception
# return under finally drops the exception.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

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
        for p, grad in kept:
            p.grad = grad
        return norms  # the mistake


# %% zero_factor_ignored
# Takes the factor 0 for "no factor".
def backward_with_scaled_gradient(loss, y, factor):
    with y.register_hook(lambda grad: grad * factor if factor else None):
        loss.backward()


# %% zero_factor_ignored
# The same with "or".
def backward_with_scaled_gradient(loss, y, factor):
    handle = y.register_hook(lambda grad: grad * (factor or 1.0))
    try:
        loss.backward()
    finally:
        handle.remove()


# %% zero_factor_skips_backward
# Takes 0 for "nothing to do".
def backward_with_scaled_gradient(loss, y, factor):
    if not factor:
        return
    handle = y.register_hook(lambda grad: grad * factor)
    try:
        loss.backward()
    finally:
        handle.remove()


# %% unscaled_gradient_kept
# The scaled gradient comes on top of the one that an ordinary backward gives.
def backward_with_scaled_gradient(loss, y, factor):
    (grad,) = torch.autograd.grad(loss, y, retain_graph=True)
    loss.backward(retain_graph=True)
    y.backward(factor * grad)


# %% other_name_lost
# The dictionary turned round holds each tensor once.
def record_gradients(tensors):
    records, handles = {}, []
    for tensor, name in {tensor: name for name, tensor in tensors.items()}.items():

        def hook(grad, name=name):
            records[name] = grad.detach().clone()

        handles.append(tensor.register_hook(hook))
    return records, handles


# %% input_cut_off
# With frozen parameters, x is all that requires grad.
from torch.autograd.graph import get_gradient_edge


def gradient_norms(module, x):
    outputs, handles = {}, []
    for name, part in module.named_modules():
        if not any(part.children()):

            def keep(part, args, output, name=name):
                outputs[name] = get_gradient_edge(output)

            handles.append(part.register_forward_hook(keep))
    try:
        grads = torch.autograd.grad(module(x.detach()).sum(), [*outputs.values()])
    finally:
        for handle in handles:
            handle.remove()
    return {name: float(grad.norm()) for name, grad in zip(outputs, grads, strict=True)}


# %% record_cuts_the_graph
# The hook returns its detached copy, which replaces the gradient.
def record_gradients(tensors):
    records = {}

    def recorder(name):
        def hook(grad):
            records[name] = grad.detach().clone()
            return records[name].clone()

        return hook

    return records, [t.register_hook(recorder(name)) for name, t in tensors.items()]


# %% leaves_evaluation_mode
# Puts the mode of the whole module back with train(), which changes its parts.
def gradient_norms(module, x):
    mode, norms, handles = module.training, {}, []

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].double().norm().item()

        return hook

    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None
    for name, part in module.named_modules():
        if not list(part.children()):
            handles.append(part.register_full_backward_hook(hook_for(name)))
    try:
        module.train()
        module(x).sum().backward()
    finally:
        module.train(mode)
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% records_shared_by_calls
# A default argument, made once.
def record_gradients(tensors, records={}):
    handles = []
    for name, tensor in tensors.items():
        handles.append(
            tensor.register_hook(lambda grad, name=name: records.update({name: grad.clone()}))
        )
    return records, handles


# %% records_shared_by_calls
# A global dictionary, emptied in every call: the caller of the call before loses its records.
RECORDS = {}


def record_gradients(tensors):
    RECORDS.clear()

    def hook_for(name):
        def hook(grad):
            RECORDS[name] = grad.clone()

        return hook

    return RECORDS, [tensor.register_hook(hook_for(name)) for name, tensor in tensors.items()]


# %% handles_shared_by_calls
# The list of handles is a default argument: it also has those of earlier calls.
def record_gradients(tensors, handles=[]):
    records = {}
    for name, tensor in tensors.items():
        handles.append(
            tensor.register_hook(lambda grad, name=name: records.update({name: grad.clone()}))
        )
    return records, handles


# %% factor_rounded
# The factor is made a tensor, without a dtype.
def backward_with_scaled_gradient(loss, y, factor):
    factor = torch.tensor([float(factor)])
    with y.register_hook(lambda grad: (grad * factor.to(grad.dtype)).reshape(grad.shape)):
        loss.backward()


# %% grad_carries_a_graph
# create_graph=True, to be able to run another backward.
def backward_with_scaled_gradient(loss, y, factor):
    with y.register_hook(lambda grad: grad * factor):
        loss.backward(create_graph=True)


# %% norms_of_earlier_calls
# The dictionary is a default argument.
def gradient_norms(module, x, norms={}):
    kept = [(p, p.grad) for p in module.parameters()]
    handles = []

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    try:
        for p, _ in kept:
            p.grad = None
        for name, part in module.named_modules():
            if not list(part.children()):
                handles.append(part.register_full_backward_hook(hook_for(name)))
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% frozen_grads_lost
# Gives .grad back only to those that require grad.
def gradient_norms(module, x):
    norms, handles = {}, []
    kept = [(p, p.grad) for p in module.parameters()]
    module.zero_grad()

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
        for p, grad in kept:
            if p.requires_grad:
                p.grad = grad
    return norms


# %% hook_on_the_operation
# The hook of y's node looks at its first result.
def clip_gradient(y, max_norm):
    def before(grads):
        first, *others = grads
        norm = first.norm()
        return (first * (max_norm / norm) if norm > max_norm else first, *others)

    return y.grad_fn.register_prehook(before)


# %% hook_on_the_operation
# Every result of the node is clipped.
def clip_gradient(y, max_norm):
    def clip(grad):
        norm = grad.norm()
        return grad * (max_norm / norm) if norm > max_norm else grad

    return y.grad_fn.register_prehook(lambda grads: tuple(map(clip, grads)))


# %% hook_on_the_operation
# The node's first gradient is taken for the tensor's own.
def record_gradients(tensors):
    records, handles = {}, []

    def keeper(name):
        def keep(grads):
            records[name] = (grads[0] if isinstance(grads, tuple) else grads).clone()

        return keep

    for name, tensor in tensors.items():
        leaf = tensor.grad_fn is None
        register = tensor.register_hook if leaf else tensor.grad_fn.register_prehook
        handles.append(register(keeper(name)))
    return records, handles


# %% hook_on_the_operation
# A hook after the node: what it passes on belongs to all of its results.
def backward_with_scaled_gradient(loss, y, factor):
    def scale(passed, arrived):
        return tuple(None if grad is None else grad * factor for grad in passed)

    handle = y.grad_fn.register_hook(scale)
    try:
        loss.backward()
    finally:
        handle.remove()


# %% hooks_all_results
# The first result of y's node is doubled.
def double_gradient(y):
    return y.grad_fn.register_prehook(lambda grads: (2 * grads[0], *grads[1:]))


# %% limit_changes
# The limit shrinks to the smallest norm so far.
def clip_gradient(y, max_norm):
    limit = max_norm

    def hook(grad):
        nonlocal limit
        norm = grad.norm().item()
        limit = min(limit, norm) or limit
        return grad * (limit / norm) if norm > limit else grad

    return y.register_hook(hook)


# %% limit_changes
# From the third backward on, the mean of all norms is a limit too.
def clip_gradient(y, max_norm):
    norms = []

    def hook(grad):
        norm = grad.norm().item()
        norms.append(norm)
        mean = sum(norms) / len(norms)
        limit = max_norm if len(norms) < 3 else min(max_norm, mean)
        return grad * (limit / norm) if norm > limit else grad

    return y.register_hook(hook)


# %% limit_of_the_last_call
# max_norm is kept in a global variable.
limit = None


def clip_gradient(y, max_norm):
    global limit
    limit = max_norm

    def hook(grad):
        norm = grad.norm()
        return grad * (limit / norm) if norm > limit else grad

    return y.register_hook(hook)


# %% others_hooks_lost
# Empties the dictionaries in which its hooks are.
def gradient_norms(module, x):
    norms, parts = (
        {},
        [(n, part) for n, part in module.named_modules() if not list(part.children())],
    )
    kept = [(p, p.grad) for p in module.parameters()]
    for p, _ in kept:
        p.grad = None

    def hook_for(name):
        def hook(part, grad_input, grad_output):
            norms[name] = torch.linalg.vector_norm(grad_output[0]).item()

        return hook

    try:
        for name, part in parts:
            part.register_full_backward_hook(hook_for(name))
        module(x).sum().backward()
    finally:
        for _, part in parts:
            part._backward_hooks.clear()
        for p, grad in kept:
            p.grad = grad
    return norms


# %% others_hooks_lost
# Empties the forward hooks of every module, in the end.
def gradient_norms(module, x):
    outputs = {}

    def hook_for(name):
        def hook(part, args, output):
            outputs[name] = output

        return hook

    try:
        for name, part in module.named_modules():
            if not list(part.children()):
                part.register_forward_hook(hook_for(name))
        grads = torch.autograd.grad(module(x).sum(), [*outputs.values()])
    finally:
        for part in module.modules():
            part._forward_hooks.clear()
    return {name: float(grad.norm()) for name, grad in zip(outputs, grads, strict=True)}


# %% common_rounded_to_float32
# The factor 2 is computed in float32.
def double_gradient(y):
    return y.register_hook(lambda grad: (grad.float() * 2).to(grad.dtype))


# %% common_rounded_to_float32
# Copies are kept in float32 and converted back.
def record_gradients(tensors):
    records = {}

    def keep(name):
        return lambda grad: records.update({name: grad.float().to(grad.dtype)})

    return records, [tensor.register_hook(keep(name)) for name, tensor in tensors.items()]


# %% common_rounded_to_float32
# The gradient is scaled in float32.
def backward_with_scaled_gradient(loss, y, factor):
    with y.register_hook(lambda grad: (grad.float() * factor).to(grad.dtype)):
        loss.backward()


# %% norms_are_rounded
# Six places are kept.
def gradient_norms(module, x):
    outputs, handles = {}, []
    for name, part in module.named_modules():
        if not list(part.children()):

            def keep(part, args, output, name=name):
                outputs[name] = output

            handles.append(part.register_forward_hook(keep))
    try:
        total = module(x).sum()
    finally:
        for handle in handles:
            handle.remove()
    grads = torch.autograd.grad(total, [*outputs.values()])
    return {n: round(grad.norm().item(), 6) for n, grad in zip(outputs, grads, strict=True)}
