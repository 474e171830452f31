"""What has to be seen from inside for hooks. Sent into the sandbox; imports torch, and warnings to
read `.grad` of any tensor quietly. A picture of a graph is taken by the engine's own walk.

Every graph is a program that the judge sends; results are what `.grad`, a dictionary or a counter
held.
"""

import contextlib
import warnings

import torch
from torch import nn

# ------------------------------------------------------------------------------------------ tensors


def held(tensor):
    """A copy of a tensor's `.grad`, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = tensor.grad
    return grad.clone() if isinstance(grad, torch.Tensor) else grad


def taken(leaves):
    """Copies of the leaves' gradients, which are cleared."""
    grads = [held(leaf) for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    return grads


def kind(value):
    """The name of a value's type; None is called so."""
    return "None" if value is None else type(value).__name__


def removable(value):
    """Whether there is a `remove` to call."""
    return callable(getattr(value, "remove", None))


def named(student, name, arguments):
    """The student's function with everything but its first argument given."""
    return lambda y: getattr(student, name)(y, *arguments)


def incoming(student, name, arguments, graph, leaves, v):
    """What v holds after a backward from y with v, and the gradients at the leaves. Nobody keeps
    what the function returned.
    """
    y = graph(*leaves)
    named(student, name, arguments)(y)
    y.backward(v)
    return {"v": v, "grads": taken(leaves)}


def released(student, name, arguments, graph, leaves, v):
    """What came back by its type, and the gradients at the leaves before and after its
    `remove()`; how often the caller's own hook on y is called then.
    """
    y, z = graph(*leaves)
    calls = []
    y.register_hook(lambda grad: calls.append(1))
    handle = named(student, name, arguments)(y)
    seen = {"type": kind(handle), "removable": removable(handle)}
    if not seen["removable"]:
        return seen
    z.backward(v.clone(), retain_graph=True)
    seen["before"] = taken(leaves)
    handle.remove()
    calls.clear()
    z.backward(v.clone(), retain_graph=True)
    seen["after"], seen["heard"] = taken(leaves), len(calls)
    return seen


def counted(student, name, arguments, leaf):
    """What came back by its type, and whether it is y, a tensor made of the leaf; how many
    functions sit on y then, and if one ever did.
    """
    y = leaf.clone()
    result = named(student, name, arguments)(y)
    put = y._backward_hooks  # None until a first hook comes; removed ones leave it empty
    seen = {"functions": len(put or ()), "ever": put is not None, "itself": result is y}
    return {"type": kind(result), "removable": removable(result), **seen}


def answered(student, name, arguments, v):
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
    if name == "backward_with_scaled_gradient":
        student.backward_with_scaled_gradient((y * v).sum(), y, *arguments)
    else:
        named(student, name, arguments)(y)
        y.backward(v.clone())
    return kinds


# ------------------------------------------------------------------------------------------ records


def shown(records):
    """The content of a dictionary, tensors copied; what is not a dictionary as it is."""
    if not isinstance(records, dict):
        return records
    return {
        key: value.detach().clone() if isinstance(value, torch.Tensor) else value
        for key, value in records.items()
    }


def opened(student, tensors):
    """What record_gradients returned: its type, and the pair, where it is one."""
    answer = student.record_gradients(tensors)
    is_pair = isinstance(answer, (tuple, list)) and len(answer) == 2
    return kind(answer), answer if is_pair else None


def recorded(student, graph, leaves, names, vectors, before=()):
    """Named outputs of a graph, a backward from its last one with each vector: the records, `.grad`
    of leaves and intermediates; whether the dictionary of tensors holds them still.
    """
    *tensors, z = graph(*leaves)
    for leaf, grad in zip(leaves, before, strict=False):
        leaf.grad = grad
    given = dict(zip(names, tensors, strict=True))
    found, pair = opened(student, given)
    seen = {"type": found, "pair": pair is not None}
    if pair is None:
        return seen
    records, handles = pair
    seen["handles"] = len(handles) if isinstance(handles, (list, tuple)) else 1
    del pair, handles  # the recording must not end with them
    seen["kept"] = list(given) == list(names) and all(map(is_one, given.values(), tensors))
    seen["start"], seen["rounds"], seen["grads"] = shown(records), [], []
    for v in vectors:
        z.backward(v.clone(), retain_graph=True)
        seen["rounds"].append(shown(records))
        seen["grads"].append([held(leaf) for leaf in leaves])
    inner = {name: t for name, t in zip(names, tensors, strict=True) if not t.is_leaf}
    seen["inner"] = {name: held(t) for name, t in inner.items()}
    return seen


def differentiated(student, graph, leaves, names):
    """The second derivatives at the leaves of the sum of a graph's last output, while the named
    others are recorded.
    """
    *tensors, z = graph(*leaves)
    student.record_gradients(dict(zip(names, tensors, strict=True)))
    with warnings.catch_warnings():  # of a reference cycle, which ends below
        warnings.simplefilter("ignore")
        z.sum().backward(create_graph=True)
    total = sum(leaf.grad.sum() for leaf in leaves)
    taken(leaves)
    if total.requires_grad:
        total.backward()
    return taken(leaves)


def apart(student, graph, leaves, names, v):
    """The records of two calls, for the first and for the second named output, after a backward
    before which the handles of the second call were removed.
    """
    first, second, z = graph(*leaves)
    found, one = opened(student, {names[0]: first})
    _, two = opened(student, {names[1]: second})
    seen = {"type": found, "pair": one is not None and two is not None}
    if not seen["pair"]:
        return seen
    for handle in two[1] if isinstance(two[1], (list, tuple)) else ():
        if removable(handle):
            handle.remove()
    z.backward(v)
    return {**seen, "first": shown(one[0]), "second": shown(two[0])}


def is_one(left, right):
    """Whether two tensors are one object."""
    return left is right


def partly(student, graph, leaves, names, v):
    """The records after a backward from the first named output, which may not reach all of them."""
    tensors = graph(*leaves)
    found, pair = opened(student, dict(zip(names, tensors, strict=True)))
    seen = {"type": found, "pair": pair is not None}
    if pair is not None:
        tensors[0].backward(v.clone(), retain_graph=True)
        seen["records"] = shown(pair[0])
    return seen


def touched(student, graph, leaves, names, v, changed):
    """The records after a backward from the last output, then after v, each leaf's `.grad` and one
    record were written to.
    """
    *tensors, z = graph(*leaves)
    found, pair = opened(student, dict(zip(names, tensors, strict=True)))
    seen = {"type": found, "pair": pair is not None}
    if pair is None:
        return seen
    records = pair[0]
    z.backward(v)
    seen["first"] = shown(records)
    v.add_(100)
    seen["v"] = shown(records)
    for leaf in leaves:
        if leaf.grad is not None:
            leaf.grad.add_(100)
    seen["grad"] = shown(records)
    if isinstance(records, dict) and isinstance(records.get(changed), torch.Tensor):
        with torch.no_grad():
            records[changed].add_(100)
    seen["record"] = shown(records)
    return seen


def closed(student, graph, leaves, names, vectors):
    """The records after a backward with the first vector, then, each handle's `remove()` called,
    with the second.
    """
    *tensors, z = graph(*leaves)
    found, pair = opened(student, dict(zip(names, tensors, strict=True)))
    seen = {"type": found, "pair": pair is not None}
    if pair is None:
        return seen
    records, handles = pair
    seen["handles"] = kind(handles)
    seen["listed"] = isinstance(handles, (list, tuple))
    seen["kinds"] = [kind(handle) for handle in handles] if seen["listed"] else []
    seen["removable"] = seen["listed"] and all(removable(handle) for handle in handles)
    if not seen["removable"]:
        return seen
    z.backward(vectors[0].clone(), retain_graph=True)
    seen["before"] = shown(records)
    for handle in handles:
        handle.remove()
    z.backward(vectors[1].clone(), retain_graph=True)
    seen["after"] = shown(records)
    return seen


# ------------------------------------------------------------------------------------- one backward


class Gate(torch.autograd.Function):
    """The identity, whose backward raises while the switch says so."""

    @staticmethod
    def forward(ctx, x, switch):
        ctx.switch = switch
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        if ctx.switch["closed"]:
            raise ValueError("the gate is closed")
        return grad.clone(), None


def scaled(student, factor, graph, leaves, before=()):
    """`.grad` of the leaves after one call on (y, loss) = graph(*leaves); `before` is what it holds
    beforehand.
    """
    y, loss = graph(*leaves)
    for leaf, grad in zip(leaves, before, strict=False):
        leaf.grad = grad
    student.backward_with_scaled_gradient(loss, y, factor)
    attached = [leaf.grad is not None and leaf.grad.requires_grad for leaf in leaves]
    return {"grads": [held(leaf) for leaf in leaves], "y": held(y), "attached": attached}


def state(tensor):
    """What there is to see of a tensor besides its hooks."""
    return {
        "requires_grad": tensor.requires_grad,
        "retains_grad": tensor.retains_grad,
        "grad": held(tensor),
        "grad_fn": kind(tensor.grad_fn),
        "values": tensor.detach().clone(),
    }


def around(student, factor, trunk, tails, leaves):
    """y before and after a call, and how often a hook that was on y before is called in a plain
    backward after it.
    """
    calls, y = [], trunk(*leaves)
    y.register_hook(lambda grad: calls.append(1))
    before = state(y)
    student.backward_with_scaled_gradient(tails[0](y, *leaves), y, factor)
    after = state(y)
    calls.clear()
    tails[1](y, *leaves).backward()
    return {"before": before, "after": after, "heard": len(calls)}


def interrupted(student, factor, trunk, tails, leaves, how):
    """The gradients at the leaves of a plain backward through the second tail, after a call on the
    first that can't end well.
    """
    switch = {"closed": how == "gate"}
    y = trunk(*leaves)
    loss = tails[0](Gate.apply(y, switch), *leaves)
    if how == "freed":
        loss.backward()
    try:
        student.backward_with_scaled_gradient(loss, y, factor)
    except Exception as error:
        raised = type(error).__name__
    else:
        raised = None
    switch["closed"] = False
    taken(leaves)
    tails[1](y, *leaves).backward()
    return {"raised": raised, "grads": taken(leaves)}


# ----------------------------------------------------------------------------------------- pictures


def graph(student, name, arguments, f, leaves, names, calls=1, released=False):
    """The graph of f(*leaves) after calls of a function, and after `remove()` where it is asked
    for; leaves and outputs by name.
    """
    from grader.authoring import trace

    outputs = f(*leaves)
    for _ in range(calls):
        if name == "record_gradients":
            given = student.record_gradients(dict(zip(arguments, outputs[:-1], strict=True)))[1]
        elif name == "backward_with_scaled_gradient":
            given = student.backward_with_scaled_gradient(outputs[-1], outputs[0], *arguments)
        else:
            given = getattr(student, name)(outputs[0], *arguments)
        if released:
            for handle in given if isinstance(given, (list, tuple)) else [given]:
                handle.remove()
    return trace(outputs[-1], dict(zip(names, [*leaves, *outputs], strict=True)))


def later_graph(student, factor, trunk, tails, leaves, names, how):
    """The graph of the second tail, after a call on the first that ended as ``how`` says; names are
    those of leaves, trunk and tail.
    """
    from grader.authoring import trace

    y = trunk(*leaves)
    loss = tails[0](Gate.apply(y, {"closed": how == "gate"}), *leaves)
    if how == "freed":
        loss.backward()
    with contextlib.suppress(RuntimeError, ValueError):
        student.backward_with_scaled_gradient(loss, y, factor)
    end = tails[1](y, *leaves)
    return trace(end, dict(zip(names, [*leaves, y, end], strict=True)))


def module_graph(student, spec, x, names):
    """The graph of a module's summed result, with what each of its parts of those names
    returned.
    """
    from grader.authoring import trace

    module = build(spec)
    returned = {"x": x, **dict(module.named_parameters())}
    for name in names:
        module.get_submodule(name).register_forward_hook(
            lambda part, inputs, output, name=name: returned.update({name: output})
        )
    return trace(module(x).sum(), returned)


# ------------------------------------------------------------------------------------------ modules


class Branches(nn.Module):
    """The sum of what its children make of one input."""

    def forward(self, x):
        return sum(child(x) for child in self.children())


class Turnstile(nn.Module):
    """Hands its input on, counts, and raises where it is told to."""

    def __init__(self):
        super().__init__()
        self.passed = []
        self.switch = {"forward": False, "closed": False}

    def forward(self, x):
        self.passed.append(1)
        if self.switch["forward"]:
            raise ValueError("the gate is closed")
        return Gate.apply(x, self.switch)


PLAIN = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "softplus": nn.Softplus,
    "turnstile": Turnstile,
}


def build(spec):
    """A module from plain data: [sort, …]; the children of a "chain" or "branches" are [name, spec]
    pairs.
    """
    sort, *rest = spec
    if sort == "linear":
        weight, bias = rest
        layer = nn.Linear(
            weight.shape[1], weight.shape[0], bias=bias is not None, dtype=weight.dtype
        )
        with torch.no_grad():
            layer.weight.copy_(weight)
            if bias is not None:
                layer.bias.copy_(bias)
        return layer
    if sort in PLAIN:
        return PLAIN[sort]()
    whole = {"chain": nn.Sequential, "branches": Branches}[sort]()
    for name, part in rest[0]:
        whole.add_module(name, build(part))
    return whole


def norms(student, spec, x, frozen=False):
    """What gradient_norms returned for a new module, and how often its turnstiles were passed; no
    parameter of a frozen one requires grad.
    """
    module = build(spec).requires_grad_(not frozen)
    result = student.gradient_norms(module, x)
    passed = [len(part.passed) for part in module.modules() if isinstance(part, Turnstile)]
    if isinstance(result, dict):
        result = {
            key: value.detach() if isinstance(value, torch.Tensor) else value
            for key, value in result.items()
        }
    return {"norms": result, "passed": passed}


def functions_on(module, x):
    """How many functions sit on the module's parts, its parameters, x, and on all modules at
    large.
    """
    parts = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
    seen = [
        sum(len(getattr(part, name, None) or ()) for name in parts) for part in module.modules()
    ]
    tensors = [*module.parameters(), x]
    seen += [
        sum(
            len(getattr(t, name, None) or ())
            for name in ("_backward_hooks", "_post_accumulate_grad_hooks")
        )
        for t in tensors
    ]
    shared = vars(torch.nn.modules.module)
    seen.append(
        sum(
            len(value)
            for name, value in shared.items()
            if name.startswith("_global_") and isinstance(value, dict)
        )
    )
    return seen


def troubled(spec, trouble):
    """The module of a spec; its turnstiles raise in forward or in backward as `trouble` says."""
    module = build(spec)
    for part in module.modules():
        if isinstance(part, Turnstile):
            part.switch = {"forward": trouble == "forward", "closed": trouble == "backward"}
    return module


def left(student, spec, x, trouble=None):
    """How many functions sit where, before and after a call. Beforehand there are some of the
    caller's own of every kind.
    """
    module, raised = troubled(spec, trouble), None
    shared = hooked(module, x)
    before = functions_on(module, x)
    try:
        with warnings.catch_warnings():  # about the older kind of a module's backward hooks
            warnings.simplefilter("ignore")
            student.gradient_norms(module, x)
    except Exception as error:
        if trouble is None:
            raise
        raised = type(error).__name__
    after = functions_on(module, x)
    for handle in shared:
        handle.remove()
    return {"before": before, "after": after, "raised": raised}


def hooked(module, x):
    """Put hooks on a module's parts, its parameters, x, and on all modules at large; return the
    handles of the last ones.
    """

    def nothing(*_):
        return None

    for part in module.modules():
        part.register_forward_pre_hook(nothing)
        part.register_forward_hook(nothing)
        part.register_full_backward_pre_hook(nothing)
        part.register_full_backward_hook(nothing)
        part._is_full_backward_hook = None  # so that a hook of the older kind may join it
    for tensor in (*module.parameters(), x):
        tensor.register_hook(nothing)
    for parameter in module.parameters():
        parameter.register_post_accumulate_grad_hook(nothing)
    at_large = nn.modules.module
    return [
        at_large.register_module_forward_pre_hook(nothing),
        at_large.register_module_forward_hook(nothing),
        at_large.register_module_full_backward_hook(nothing),
    ]


def grads_kept(student, spec, x, before, trouble=None):
    """`.grad` of the parameters after a call, in order; `before` is what it holds beforehand. The
    last parameter is frozen, the last part does not train, and x is not a leaf.
    """
    module, given = troubled(spec, trouble), x.clone()
    parameters, parts = dict(module.named_parameters()), dict(module.named_modules())
    for parameter, grad in zip(parameters.values(), before, strict=True):
        parameter.grad = grad
    [*parameters.values()][-1].requires_grad_(False)
    [*parts.values()][-1].eval()

    def settings():
        found = {f"{name}.requires_grad": one.requires_grad for name, one in parameters.items()}
        found |= {f"{name or 'module'}.training": one.training for name, one in parts.items()}
        return {**found, "x.grad_fn": kind(given.grad_fn)}

    seen = {"settings_before": settings()}
    try:
        student.gradient_norms(module, given)
    except Exception:
        if trouble is None:
            raise
    grads = {name: held(one) for name, one in parameters.items()}
    return {**seen, "settings": settings(), "grads": grads, "x": given.detach().clone()}
