"""What only the worker can observe in forward_mode."""

import contextlib

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

from grader.worker.scenarios import (
    arrays_in,
    callers,
    copied,
    names_of_nodes,
    seen_on_the_way,
    tensors_in,
)


class Operators(TorchDispatchMode):
    """Notes how many elements the largest result of torch's operators has."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch imports its compiler when this class is made, which takes seconds

    def __init__(self):
        super().__init__()
        self.largest = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.largest = max([self.largest, *(one.numel() for one in tensors_in([result]))])
        return result


def forward_mode_is_on():
    """Whether a dual level is entered, by torch.autograd.forward_ad or by torch.func."""
    try:
        forward_ad.enter_dual_level()
    except RuntimeError:
        return True  # there is one level at most
    forward_ad.exit_dual_level()
    return False


def leave_level(student=None):
    """Leave the dual level that an earlier call of the student's left entered."""
    while forward_mode_is_on():
        forward_ad.exit_dual_level()


# ------------------------------------------------------------------- functions of f: how they work


TOOLS = {
    "torch.autograd.functional": "torch.autograd.functional",
    "torch._functorch.eager_transforms": "torch.func",
    "torch._functorch.apis": "torch.func",
}


def tools_around():
    """Which of torch's tools that differentiate or vectorize a function are on the stack."""
    met = callers()
    return [shown for module, shown in TOOLS.items() if module in met]


def wrapped(x):
    """A tensor and those inside of it that torch.func has wrapped."""
    yield x
    while torch._C._functorch.is_functorch_wrapped_tensor(x):
        x = torch._C._functorch.get_unwrapped(x)
        yield x


def has_tangent(x):
    """Whether a tensor is a dual number, of torch.autograd.forward_ad or of torch.func."""
    functorch = torch._C._functorch
    levels = functorch.get_interpreter_stack() or ()
    pushed = {one.level() for one in levels if one.key() == functorch.TransformType.Jvp}
    if any(functorch.maybe_get_level(one) in pushed for one in wrapped(x)) or is_dual(x):
        return True
    *_, inside = wrapped(x)
    with temporarily_clear_interpreter_stack():  # in which it is no dual number
        return is_dual(inside)


def is_dual(x):
    """Whether a tensor is a dual number of torch.autograd.forward_ad."""
    try:
        return forward_ad.unpack_dual(x).tangent is not None
    except RuntimeError:  # under vmap, where none can be made
        return False


def watched(student, name, f, count, x, *arguments):
    """What a function returns; how often it calls f; whether forward mode was on in each call, and
    whether the first argument had a tangent; which of torch's tools called; the elements of the
    largest tensor; how often backward came to f's ``count``: its "input" or its "result".
    """
    leave_level()
    forward, tangents, tools, passes = [], [], set(), []

    def seen(first, *inputs):
        forward.append(forward_mode_is_on())
        tangents.append(has_tangent(first))
        tools.update(tools_around())
        if len([*wrapped(first)]) > 1:
            tools.add("torch.func")
        first = first.view_as(first)  # what backward comes to, of a leaf as well
        y = f(first, *inputs)
        counted = {"input": first, "result": y}.get(count)
        if counted is not None and counted.requires_grad:
            counted.register_hook(lambda gradient: passes.append(1))
        return y

    seen.__name__, seen.__qualname__ = f.__name__, f.__qualname__
    with Operators() as ran:
        result = getattr(student, name)(seen, x, *arguments)
    return {
        "result": copied(result),
        "calls": len(forward),
        "forward": forward,
        "tangents": tangents,
        "tools": ", ".join(sorted(tools)),
        "largest": ran.largest,
        "passes": len(passes),
    }


def afterwards(student, name, f, x, v, held, parameters):
    """What is left of x, v, .grad and the dual level after a call, and after one in which f raised.
    .grad of x is ``held`` before, that of f's parameters is ones, or None if x requires no grad.
    """

    def broken(x):
        raise ArithmeticError

    leave_level()
    x.grad = copied(held)
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter) if x.requires_grad else None
    seen, function = {}, getattr(student, name)
    for case, g in (("a call", f), ("a call in which f raised", broken)):
        with contextlib.suppress(ArithmeticError):
            function(g, x, v)
        seen[case] = forward_mode_is_on()
        leave_level()
    return {
        "level": [case for case, on in seen.items() if on],
        "flags": [x.requires_grad, v.requires_grad],
        "values": [copied(x), copied(v)],
        "grads": [copied(one.grad) for one in (x, *parameters)],
    }


# ------------------------------------------------------------------------------------------- Cube


def derived(student, x, v, t):
    """What autograd itself runs inside of backward for v, and of jvp for t: nodes that are not in
    Cube's graph, and forward mode. A jvp that uses that, raises.
    """
    leave_level()
    y = student.Cube.apply(x)
    own = names_of_nodes(y.grad_fn)
    with forward_ad.dual_level():  # there is one level at most
        with seen_on_the_way(x.detach(), {}) as back:
            try:
                torch.autograd.grad(y, x, v)
            except RuntimeError:
                back.nodes.add("forward mode")
        dual = forward_ad.make_dual(x.detach(), t)
        with seen_on_the_way(x.detach(), {}) as ahead, contextlib.suppress(Exception):
            student.Cube.apply(dual)
    return {"backward": sorted(back.nodes - own), "jvp": sorted(ahead.nodes)}


def pushed(student, x, t):
    """Cube of a dual number: its value and its tangent."""
    leave_level()
    with forward_ad.dual_level():
        y, tangent = forward_ad.unpack_dual(student.Cube.apply(forward_ad.make_dual(x, t)))
        return copied(y), copied(tangent)


def pushed_twice(student, x, t, z, u):
    """The tangents of two calls, read when both have returned, and that of Cube of its result."""
    leave_level()
    with forward_ad.dual_level():
        given = forward_ad.make_dual(x, t), forward_ad.make_dual(z, u)
        first, second = (student.Cube.apply(one) for one in given)
        results = first, second, student.Cube.apply(first)
        return [copied(forward_ad.unpack_dual(y).tangent) for y in results]


def transformed(student, x, t):
    """Gradient and tangent of Cube by torch.func."""

    def total(x):
        return student.Cube.apply(x).sum()

    return {
        "gradient": torch.func.grad(total)(x),
        "tangent": torch.func.jvp(student.Cube.apply, (x,), (t,))[1],
    }


def stashed(student, x, t):
    """Attributes of ctx that hold tensors and without which jvp raises."""
    node = student.Cube.apply(x).grad_fn
    held = [name for name, value in getattr(node, "__dict__", {}).items() if arrays_in(value)]

    def works():
        try:
            student.Cube.jvp(node, t)
        except Exception:
            return False
        return True

    found = []
    for name in held if works() else ():
        value = node.__dict__.pop(name)
        found += [] if works() else [name]
        node.__dict__[name] = value
    return found


def mapped(student, x, places, t):
    """Cube by vmap along these dimensions, one inside the other; with a t, the tangent of that."""
    function = student.Cube.apply
    for place in places:
        function = torch.func.vmap(function, in_dims=place, out_dims=place)
    return function(x) if t is None else torch.func.jvp(function, (x,), (t,))[1]


def rule_of(student):
    """Whether torch is to write the rule for vmap."""
    return bool(student.Cube.generate_vmap_rule)
