"""What only the worker can observe in hooks, besides the engine's scenarios."""

import warnings

import torch
from torch import nn

from grader.worker.scenarios import at, copied, filled, named


def held(tensor):
    """A copy of a tensor's `.grad`, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return copied(tensor.grad)


def kind(value):
    """The name of a value's type; None is called so."""
    return "None" if value is None else type(value).__name__


def state(tensor):
    """What there is to see of a tensor besides its hooks."""
    return {
        "requires_grad": tensor.requires_grad,
        "retains_grad": tensor.retains_grad,
        "grad": held(tensor),
        "grad_fn": kind(tensor.grad_fn),
        "values": copied(tensor),
    }


def states(student, path, names, inputs, build, args, of, v):
    """The states of some tensors of a graph before a call, and after it; with v, after a backward
    from the last tensor as well. A name in ``args`` stands for its tensor.
    """
    tensors = named(names, [*inputs, *build(*inputs)])
    before = {name: state(tensors[name]) for name in of}
    at(student, path)(*filled(args, tensors))
    if v is not None:
        tensors[names[-1]].backward(v)
    return before, {name: state(tensors[name]) for name in of}


def differentiated(student, path, names, inputs, build, args):
    """The second derivatives at the inputs of the sum of a graph's last tensor, after a call."""
    tensors = named(names, [*inputs, *build(*inputs)])
    at(student, path)(*filled(args, tensors))
    with warnings.catch_warnings():  # of a reference cycle, which ends below
        warnings.simplefilter("ignore")
        tensors[names[-1]].sum().backward(create_graph=True)
    firsts = [one.grad for one in inputs]
    total = sum(first.sum() for first in firsts)
    for one in inputs:
        one.grad = None
    if total.requires_grad:
        total.backward()
    return [copied(one.grad) for one in inputs]


def answered(student, path, arguments, v):
    """The types of what the hooks that were put on y by `y.register_hook` returned, in a backward
    that brings v to it.
    """
    y = torch.zeros_like(v).requires_grad_().clone()
    put, kinds = y.register_hook, []

    def register(hook):
        def heard(grad):
            answer = hook(grad)
            kinds.append(kind(answer))
            return answer

        return put(heard)

    y.register_hook = register
    if path == "backward_with_scaled_gradient":
        at(student, path)((y * v).sum(), y, *arguments)
    else:
        at(student, path)(y, *arguments)
        y.backward(v)
    return kinds


# ------------------------------------------------------------------------------------------ modules


class Branches(nn.Module):
    """The sum of what its children make of one input."""

    def forward(self, x):
        return sum(child(x) for child in self.children())


class Turnstile(nn.Module):
    """Hands its input on, counts, and raises where it is told to."""

    passed, trouble = 0, None

    def forward(self, x):
        self.passed += 1
        y = x.clone()
        if self.trouble == "forward":
            refuse()
        if self.trouble == "backward":
            y.register_hook(refuse)
        return y


def refuse(*_):
    raise ValueError("the gate is closed")


PLAIN = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "softplus": nn.Softplus,
    "turnstile": Turnstile,
}


def build(spec):
    """A module from plain data: the name of an activation, a list with the weight and perhaps the
    bias of a linear layer, a dictionary for a chain, ["branches", parts] for a sum.
    """
    if isinstance(spec, str):
        return PLAIN[spec]()
    if isinstance(spec, list) and spec[0] != "branches":
        return linear(*spec)
    whole, parts = (Branches(), spec[1]) if isinstance(spec, list) else (nn.Sequential(), spec)
    for name, part in parts.items():
        whole.add_module(name, build(part))
    return whole


def linear(weight, bias=None):
    """A linear layer with these numbers."""
    layer = nn.Linear(*reversed(weight.shape), bias=bias is not None, dtype=weight.dtype)
    layer.weight = nn.Parameter(weight)
    if bias is not None:
        layer.bias = nn.Parameter(bias)
    return layer


def norms(student, spec, x, frozen=False):
    """What gradient_norms returned for a new module, and how often its turnstiles were passed; no
    parameter of a frozen one requires grad.
    """
    module = build(spec).requires_grad_(not frozen)
    result = student.gradient_norms(module, x)
    passed = [part.passed for part in module.modules() if isinstance(part, Turnstile)]
    if isinstance(result, dict):
        tensors = {key: copied(one) for key, one in result.items() if isinstance(one, torch.Tensor)}
        result = {**result, **tensors}
    return {"norms": result, "passed": passed}


def left(student, spec, x, grads=None, trouble=None):
    """What there is after a call, and what was before: hooks, settings, `.grad` of the parameters,
    x, and what was raised. Before, there are hooks of the caller's everywhere, and `.grad` holds
    ``grads``; the last parameter is frozen, the last part does not train, x is not a leaf.
    Turnstiles raise in forward or in backward as ``trouble`` says.
    """
    module, x = build(spec), x.clone()
    parameters, parts = dict(module.named_parameters()), dict(module.named_modules())
    for part in parts.values():
        part.trouble = trouble
    shared = hooked(parts.values(), [*parameters.values(), x])
    for parameter, grad in zip(parameters.values(), grads or [], strict=False):
        parameter.grad = grad
    [*parameters.values()][-1].requires_grad_(False)
    [*parts.values()][-1].eval()
    before, raised = seen_of(parts, parameters, x), None
    try:
        with warnings.catch_warnings():  # about the older kind of a module's backward hooks
            warnings.simplefilter("ignore")
            student.gradient_norms(module, x)
    except Exception as error:
        if trouble is None:
            raise
        raised = type(error).__name__
    after = seen_of(parts, parameters, x)
    for handle in shared:
        handle.remove()
    return before, {**after, "raised": raised}


KINDS = (
    "_forward_pre_hooks",
    "_forward_hooks",
    "_backward_pre_hooks",
    "_backward_hooks",
    "_post_accumulate_grad_hooks",
)


def hooks_on(one):
    """How many functions sit on a module or a tensor."""
    return sum(len(getattr(one, kind, None) or ()) for kind in KINDS)


def seen_of(parts, parameters, x):
    """How many functions sit where; the settings of parts, parameters and x, and what they hold."""
    places = {name or "module": part for name, part in parts.items()} | parameters | {"x": x}
    hooks = {place: hooks_on(one) for place, one in places.items()}
    at_large = vars(nn.modules.module).items()
    tables = [
        one for name, one in at_large if name.startswith("_global_") and isinstance(one, dict)
    ]
    settings = {f"{name}.requires_grad": one.requires_grad for name, one in parameters.items()}
    settings |= {f"{name or 'module'}.training": one.training for name, one in parts.items()}
    return {
        "hooks": {**hooks, "all modules": sum(map(len, tables))},
        "settings": {**settings, "x.grad_fn": kind(x.grad_fn)},
        "grads": {name: held(one) for name, one in parameters.items()},
        "x": copied(x),
    }


def hooked(parts, tensors):
    """Put hooks on a module's parts, on tensors, and on all modules at large; return the handles of
    the last ones.
    """

    def nothing(*_):
        return None

    for part in parts:
        part.register_forward_pre_hook(nothing)
        part.register_forward_hook(nothing)
        part.register_full_backward_pre_hook(nothing)
        part.register_full_backward_hook(nothing)
        part._is_full_backward_hook = None  # so that a hook of the older kind may join it
    for tensor in tensors:
        tensor.register_hook(nothing)
        if tensor.is_leaf:
            tensor.register_post_accumulate_grad_hook(nothing)
    at_large = nn.modules.module
    return [
        at_large.register_module_forward_pre_hook(nothing),
        at_large.register_module_forward_hook(nothing),
        at_large.register_module_full_backward_hook(nothing),
    ]
