"""hooks: other right answers. A cell shows the definitions that differ from the solution."""


# %% callable_objects
# Objects with __call__ as hooks, and a handle of one's own.
class Times:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, grad):
        return grad.mul(self.factor)


class Keeper:
    def __init__(self, records, name):
        self.records = records
        self.name = name

    def __call__(self, grad):
        copy = torch.empty_like(grad)
        copy.copy_(grad)
        self.records[self.name] = copy


class Clip:
    def __init__(self, max_norm):
        self.max_norm = max_norm

    def __call__(self, grad):
        length = grad.pow(2).sum().sqrt()
        if length <= self.max_norm:
            return None
        return self.max_norm * grad / length


class Hooked:
    def __init__(self, tensor, hook):
        self.handle = tensor.register_hook(hook)

    def remove(self):
        self.handle.remove()


def double_gradient(y):
    return Hooked(y, Times(2))


def record_gradients(tensors):
    records, handles = {}, []
    for name in tensors:
        handles.append(Hooked(tensors[name], Keeper(records, name)))
    return records, handles


def clip_gradient(y, max_norm):
    return Hooked(y, Clip(max_norm))


def backward_with_scaled_gradient(loss, y, factor):
    hooked = Hooked(y, Times(factor))
    try:
        loss.backward()
    except BaseException:
        hooked.remove()
        raise
    hooked.remove()


# %% called_with_other_parameters
# functional_call with copies of the parameters: the module's own never get a gradient.
from torch.func import functional_call


def gradient_norms(module, x):
    copies = {name: p.detach().clone().requires_grad_() for name, p in module.named_parameters()}
    norms = {}
    handles = {}
    for name, part in module.named_modules():
        if sum(1 for _ in part.modules()) == 1:

            def hook(_part, _grad_in, grad_out, name=name):
                (grad,) = grad_out
                norms[name] = torch.linalg.norm(grad).item()

            handles[name] = part.register_full_backward_hook(hook)
    try:
        functional_call(module, copies, (x,)).sum().backward()
    finally:
        for handle in handles.values():
            handle.remove()
    return {name: norms[name] for name in sorted(norms)}


# %% copies_written_in_place
# Works in place, but on copies of its own; and keeps parameters' gradients by copying them back.
import copy


def double_gradient(y):
    def hook(grad):
        grad = grad.clone()
        grad *= 2
        return grad

    return y.register_hook(hook)


def record_gradients(tensors):
    records = {}

    def hook_for(name):
        def hook(grad):
            records[name] = copy.deepcopy(grad.detach())
            return None

        return hook

    return records, [tensors[name].register_hook(hook_for(name)) for name in sorted(tensors)]


def clip_gradient(y, max_norm):
    def hook(grad):
        clipped = grad.clone()
        length = clipped.flatten().norm(p=2)
        if length > max_norm:
            clipped.div_(length).mul_(max_norm)
        return clipped

    return y.register_hook(hook)


def gradient_norms(module, x):
    norms = {}
    handles = []
    before = {p: None if p.grad is None else p.grad.detach().clone() for p in module.parameters()}

    def make_hook(name):
        def hook(m, grad_input, grad_output):
            norms[name] = grad_output[0].norm().item()

        return hook

    for name, m in module.named_modules():
        if len(list(m.children())) == 0:
            handles.append(m.register_full_backward_hook(make_hook(name)))
    try:
        module(x).sum().backward()
    finally:
        for h in handles:
            h.remove()
        for p, grad in before.items():
            p.grad = grad
    return norms


# %% frozen_parameters
# Parameters stand still while backward runs, so they get no gradient; the error of backward is
# put into words.
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


# %% hook_on_every_module
# One hook for all modules that there are; only those of this module are looked at.
import torch.nn.modules.module as M


def double_gradient(y):
    handle = y.register_hook(_twice)
    return handle


def _twice(g):
    return 2.0 * g


def record_gradients(tensors):
    records = {}

    def listen(item):
        name, t = item
        return t.register_hook(lambda g: (records.update([(name, g.clone())]), None)[1])

    return records, [listen(i) for i in tensors.items()]


def clip_gradient(y, max_norm):
    return y.register_hook(lambda g: g * (max_norm / max(max_norm, g.norm().item())))


def backward_with_scaled_gradient(loss, y, factor):
    try:
        h = y.register_hook(lambda g: g * factor)
        loss.backward(inputs=None)
    finally:
        h.remove()


def gradient_norms(module, x):
    names = {id(m): n for n, m in module.named_modules() if len(m._modules) == 0}
    out = {}

    def hook(m, gi, go):
        if id(m) in names:
            out[names[id(m)]] = go[0].norm(2).item()

    params = list(module.parameters())
    grads = [p.grad if p.grad is None else p.grad.detach().clone() for p in params]
    h = torch.nn.modules.module.register_module_full_backward_hook(hook)
    try:
        for p in params:
            p.grad = None
        loss = module(x).sum()
        loss.backward()
        return out
    finally:
        h.remove()
        for p, g in zip(params, grads):
            p.grad = g


# %% hooks_of_old
# The older register_backward_hook, as tutorials of some years ago have it.
def gradient_norms(module, x):
    norms = {}
    handles = []
    saved = [(p, p.grad) for p in module.parameters()]
    try:
        for name, part in module.named_modules():
            if not list(part.children()):

                def hook(_part, _grad_input, grad_output, name=name):
                    norms[name] = float(grad_output[0].norm())

                handles.append(part.register_backward_hook(hook))
        for p, _ in saved:
            p.grad = None
        out = module(x)
        torch.sum(out).backward()
    finally:
        [handle.remove() for handle in handles]
        for p, grad in saved:
            p.grad = grad
    return norms


def record_gradients(tensors):
    records = {}
    handles = [
        t.register_hook(lambda g, n=n: records.update({n: torch.clone(g)}))
        for n, t in tensors.items()
    ]
    return records, handles


def clip_gradient(y, max_norm):
    def hook(g):
        n = torch.linalg.norm(g)
        return torch.where(n > max_norm, g * max_norm / torch.clamp(n, min=1e-12), g)

    return y.register_hook(hook)


# %% hooks_on_all_modules
# One hook on all modules at large, which looks a module's name up; taken away again.
from torch.nn.modules.module import register_module_full_backward_hook


def gradient_norms(module, x):
    names = {part: name for name, part in module.named_modules() if not list(part.children())}
    norms = {}

    def hook(part, grad_input, grad_output):
        if part in names:
            norms[names[part]] = grad_output[0].norm().item()

    grads = {p: p.grad for p in module.parameters()}
    for p in grads:
        p.grad = None
    handle = register_module_full_backward_hook(hook)
    try:
        out = module(x)
        out.backward(torch.ones_like(out))
    finally:
        handle.remove()
        for p, grad in grads.items():
            p.grad = grad
    return norms


# %% hooks_on_outputs
# Forward hooks that put a tensor hook on each output; numpy does the arithmetic of the clip.
import numpy as np


def clip_gradient(y, max_norm):
    def hook(grad):
        values = grad.detach().numpy()
        length = float(np.sqrt((values.astype(np.float64) ** 2).sum()))
        if length <= max_norm:
            return grad
        return torch.from_numpy(np.asarray(values * (max_norm / length))).to(grad.dtype)

    return y.register_hook(hook)


def gradient_norms(module, x):
    norms = {}
    handles = []

    def watch(name, part):
        def forward_hook(_part, _args, output):
            def tensor_hook(grad):
                norms[name] = grad.norm().item()

            output.register_hook(tensor_hook)

        handles.append(part.register_forward_hook(forward_hook))

    for name, part in module.named_modules():
        if not any(True for _ in part.children()):
            watch(name, part)
    grads = [p.grad for p in module.parameters()]
    for p in module.parameters():
        p.grad = None
    try:
        module(x).sum().backward()
    finally:
        for h in handles:
            h.remove()
        for p, grad in zip(module.parameters(), grads, strict=True):
            p.grad = grad
    return norms


# %% kept_on_outputs
# retain_grad on each module's output, and backward told to put gradients there and nowhere else.
def gradient_norms(module, x):
    outputs = {}
    handles = []
    for name, part in module.named_modules():
        if not list(part.children()):
            handles.append(
                part.register_forward_hook(
                    lambda _part, _args, output, name=name: outputs.__setitem__(name, output)
                )
            )
    try:
        total = module(x).sum()
    finally:
        for handle in handles:
            handle.remove()
    total.backward(inputs=list(outputs.values()))
    return {name: output.grad.norm().item() for name, output in outputs.items()}


def backward_with_scaled_gradient(loss, y, factor):
    handle = None
    try:
        handle = y.register_hook(lambda grad: grad * factor)
        torch.autograd.backward(loss)
    finally:
        if handle is not None:
            handle.remove()


# %% managed_by_contexts
# Context managers restore what was there; the norm is computed by math.hypot.
import contextlib
import math


def clip_gradient(y, max_norm):
    def hook(grad):
        length = math.hypot(*grad.flatten().tolist())
        return grad * (max_norm / length if length > max_norm else 1.0)

    return y.register_hook(hook)


@contextlib.contextmanager
def _gradients_kept(module):
    grads = [parameter.grad for parameter in module.parameters()]
    module.zero_grad(set_to_none=True)
    try:
        yield
    finally:
        for parameter, grad in zip(module.parameters(), grads):
            parameter.grad = grad


def gradient_norms(module, x):
    norms = {}

    def watcher(name):
        def hook(_module, _grad_input, grad_output):
            (grad,) = grad_output
            norms[name] = grad.square().sum().sqrt().item()

        return hook

    with _gradients_kept(module), contextlib.ExitStack() as stack:
        for name, part in module.named_modules():
            if not list(part.children()):
                stack.enter_context(part.register_full_backward_hook(watcher(name)))
        module(x).sum().backward()
    return norms


# %% methods_as_hooks
# Bound methods are the hooks; forward hooks replace each output by a clone with a tensor hook.
class _Scaling:
    def __init__(self, y, factor):
        self.y, self.factor = y, factor

    def __enter__(self):
        self.handle = self.y.register_hook(lambda grad: grad * self.factor)

    def __exit__(self, *exception):
        self.handle.remove()


def backward_with_scaled_gradient(loss, y, factor):
    with _Scaling(y, factor):
        loss.backward()


class _Meter:
    def __init__(self, norms, name):
        self.norms, self.name = norms, name

    def forward_hook(self, module, args, output):
        out = output.clone()
        out.register_hook(self.measure)
        return out

    def measure(self, grad):
        self.norms[self.name] = float(torch.linalg.vector_norm(grad))


def gradient_norms(module, x):
    norms = {}
    saved = {p: p.grad for p in module.parameters()}
    for p in saved:
        p.grad = None
    leaves = [(name, part) for name, part in module.named_modules() if not list(part.children())]
    handles = [
        part.register_forward_hook(_Meter(norms, name).forward_hook) for name, part in leaves
    ]
    try:
        module(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for p, grad in saved.items():
            p.grad = grad
    return norms


# %% one_hook_for_many
# register_multi_grad_hook watches all tensors with one handle; module hooks are entered into an
# ExitStack.
from contextlib import ExitStack

from torch.autograd.graph import register_multi_grad_hook


def record_gradients(tensors):
    records = {}

    def keep(grads):
        for name, grad in zip(tensors, grads, strict=True):
            if grad is not None:
                records[name] = grad.detach().clone()

    return records, [register_multi_grad_hook(list(tensors.values()), keep)]


def backward_with_scaled_gradient(loss, y, factor):
    with ExitStack() as stack:
        stack.callback(y.register_hook(lambda grad: grad * factor).remove)
        loss.backward()


def gradient_norms(module, x):
    norms = {}
    outputs = {}

    def remember(name):
        def hook(part, inputs, output):
            outputs[name] = output

        return hook

    with ExitStack() as stack:
        for name, part in module.named_modules():
            if not part._modules:
                stack.enter_context(part.register_forward_hook(remember(name)))
        total = module(x).sum()
    grads = torch.autograd.grad(total, list(outputs.values()))
    for name, grad in zip(outputs, grads, strict=True):
        norms[name] = float(grad.norm())
    return norms


# %% partials_and_small_numbers
# functools.partial for the closures, and a small number in the denominator in place of a
# condition.
from functools import partial


def _scale(factor, grad):
    return torch.mul(grad, factor)


def _keep(records, name, grad):
    records[name] = grad + 0


def _clip(max_norm, grad):
    coefficient = (max_norm / (torch.norm(grad) + 1e-6)).clamp(max=1.0)
    return coefficient * grad


def double_gradient(y):
    return y.register_hook(partial(_scale, 2.0))


def record_gradients(tensors):
    records = {}
    handles = [t.register_hook(partial(_keep, records, name)) for name, t in tensors.items()]
    return records, handles


def clip_gradient(y, max_norm):
    return y.register_hook(partial(_clip, max_norm))


def backward_with_scaled_gradient(loss, y, factor):
    with y.register_hook(partial(_scale, factor)):
        loss.backward()


# %% prehooks_of_modules
# Backward pre-hooks, which get grad_output alone; gradients only asked for with respect to x.
def gradient_norms(module, x):
    x = x.clone().detach().requires_grad_(True)
    result = {}

    def pre_hook(name):
        return lambda part, grad_output: result.__setitem__(name, grad_output[0].norm(2).item())

    handles = [
        part.register_full_backward_pre_hook(pre_hook(name))
        for name, part in module.named_modules()
        if list(part.modules()) == [part]
    ]
    try:
        torch.autograd.grad(module(x).sum(), x)
    finally:
        for handle in handles:
            handle.remove()
    return result


def clip_gradient(y, max_norm):
    return y.register_hook(
        lambda grad: (
            grad.reshape(1, -1).renorm(2, 0, max_norm).reshape(grad.shape) if grad.numel() else grad
        )
    )


def double_gradient(y):
    return y.register_hook(lambda g: torch.add(g, g))


# %% prehooks_of_nodes
# Hooks on the node behind a tensor, not on the tensor; a leaf has no node, so it gets a tensor
# hook.
def _at(y, change):
    if y.grad_fn is None:
        return y.register_hook(change)

    def before(grads):
        changed = list(grads)
        changed[y.output_nr] = change(grads[y.output_nr])
        return tuple(changed)

    return y.grad_fn.register_prehook(before)


def double_gradient(y):
    return _at(y, lambda grad: 2 * grad)


def record_gradients(tensors):
    records = {}

    def keep(name, grad):
        records[name] = grad.clone()
        return grad

    handles = []
    for name, tensor in tensors.items():
        handles.append(_at(tensor, lambda grad, name=name: keep(name, grad)))
    return records, handles


def clip_gradient(y, max_norm):
    return _at(y, lambda grad: grad * min(1.0, max_norm / max(grad.norm().item(), 1e-12)))


def backward_with_scaled_gradient(loss, y, factor):
    handle = _at(y, lambda grad: factor * grad)
    try:
        return loss.backward()
    finally:
        handle.remove()


# %% records_prefilled
# records has its names from the start, without gradients; the hook hands the gradient on; a tuple
# of handles made a list.
def record_gradients(tensors):
    records = dict.fromkeys(tensors)
    handles = ()
    for key, tensor in tensors.items():

        def hook(grad, *, key=key):
            records[key] = torch.clone(grad).detach()
            return grad

        handles += (tensor.register_hook(hook),)
    return records, list(handles)


def double_gradient(y):
    def hook(grad):
        print("gradient at y:", grad)
        return grad / 0.5

    handle = y.register_hook(hook)
    return handle


def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.square().sum().sqrt().item()
        factor = 1
        if norm > max_norm:
            factor = max_norm / norm
        return grad * factor

    handle = y.register_hook(hook)
    return handle


# %% second_backward_for_the_rest
# Without a hook for the scaling: a plain backward, then another from y with what is missing.
def backward_with_scaled_gradient(loss, y, factor):
    (grad,) = torch.autograd.grad(loss, y, retain_graph=True)
    loss.backward(retain_graph=True)
    y.backward((factor - 1) * grad)


# %% stand_ins
# Clips with clip_grad_norm_ on a parameter made for it, and measures a copy of the module.
import copy


def clip_gradient(y, max_norm):
    def clip(grad):
        stand_in = nn.Parameter(torch.empty_like(grad))
        stand_in.grad = grad.clone()
        nn.utils.clip_grad_norm_([stand_in], max_norm)
        return stand_in.grad

    return y.register_hook(clip)


def gradient_norms(module, x):
    twin = copy.deepcopy(module)
    found = {}
    for name, part in twin.named_modules():
        if next(part.children(), None) is None:
            part.register_full_backward_hook(
                lambda _part, _inputs, outputs, name=name: found.update(
                    {name: float(torch.norm(outputs[0]))}
                )
            )
    twin(x).sum().backward()
    return found


# %% sums_in_double
# partial of torch.mul and of a keeper; norms are taken in float64 and clamped from below.
from functools import partial


def double_gradient(y):
    return y.register_hook(partial(torch.mul, other=2))


def record_gradients(tensors):
    records = {}

    def keep(name, grad):
        with torch.no_grad():
            records[name] = torch.clone(grad)

    return records, tuple(t.register_hook(partial(keep, name)) for name, t in tensors.items())


def clip_gradient(y, max_norm):
    def cap(grad):
        norm = grad.double().reshape(-1).norm()
        return grad * (max_norm / norm.clamp(min=max_norm)).item()

    return y.register_hook(cap)


def gradient_norms(module, x):
    norms, handles = {}, []
    old = {name: p.grad for name, p in module.named_parameters()}
    for p in module.parameters():
        p.grad = None
    try:
        for name, part in module.named_modules():
            if any(True for _ in part.children()):
                continue

            def hook(part, grad_output, name=name):
                norms[name] = grad_output[0].norm().item()

            handles.append(part.register_full_backward_pre_hook(hook))
        module(x).sum().backward()
    finally:
        while handles:
            handles.pop().remove()
        for name, p in module.named_parameters():
            p.grad = old[name]
    return norms


# %% records_written_over
# Writes each gradient into the tensor of the backward before, and takes norms by their squares.
def record_gradients(tensors):
    records = {}

    def hook_for(name):
        def hook(grad):
            if name in records:
                records[name].copy_(grad.detach())
            else:
                records[name] = grad.detach().clone()

        return hook

    return records, [tensor.register_hook(hook_for(name)) for name, tensor in tensors.items()]


def clip_gradient(y, max_norm):
    def clip(grad):
        squares = grad.square().sum().item()
        return grad * (max_norm / squares**0.5) if squares > max_norm**2 else None

    return y.register_hook(clip)


def gradient_norms(module, x):
    outputs = {}
    handles = [
        part.register_forward_hook(lambda m, i, output, name=name: outputs.update({name: output}))
        for name, part in module.named_modules()
        if not list(part.children())
    ]
    try:
        total = module(x).sum()
    finally:
        for handle in handles:
            handle.remove()
    grads = torch.autograd.grad(total, list(outputs.values()))
    return {name: grad.pow(2).sum().sqrt().item() for name, grad in zip(outputs, grads)}


# %% small_numbers
# A small number is added to the norm, and a factor is a float32 tensor, which 2 fits into exactly.
def double_gradient(y):
    return y.register_hook(lambda grad: grad * torch.tensor(2.0))


def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: grad * (max_norm / (grad.norm() + 1e-5)).clamp(max=1.0))
