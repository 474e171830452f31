"""What only the worker can observe in custom_functions, besides the engine's scenarios."""

import torch
from torch.autograd import Function

from grader.worker.scenarios import gradients, node_of


def made(name, forward, *factors):
    """A Function with this forward, whose backward multiplies by one factor for each argument; None
    stands for no gradient. Its methods are named as if it stood at the top of a file.
    """

    def backward(ctx, grad):
        return tuple(None if factor is None else grad * factor for factor in factors)

    forward.__qualname__, backward.__qualname__ = f"{name}.forward", f"{name}.backward"
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (Function,), methods)


def called(student, x, y, v, a, b):
    """as_callable of a Function of two tensors: what it returned, what ran before the call, what
    the call gave.
    """
    contexts = []

    def forward(ctx, x, y):
        contexts.append(type(ctx).__name__)
        ctx.save_for_backward(x, y)
        return x * a + y

    cls = made(f"Pair_{a}_{b}", forward, b, a + b)  # no class of another call has this name
    function = student.as_callable(cls)
    seen = {"callable": callable(function), "returned": function, "early": len(contexts)}
    if not callable(function):
        return seen
    value = function(x, y)
    return {
        **seen,
        "value": value,
        "gradients": gradients(value, (x, y), v),
        "found": node_of(value, cls) is not None,
        "contexts": list(contexts),
    }


def counted(student, x, y, v, a, b):
    """as_callable of a Function of one tensor, of one of three tensors, and of one of a tensor and
    a number; the type of the number in forward.
    """
    types = []

    def scaled(ctx, x, factor):
        types.append(type(factor).__name__)
        return x * factor + a

    one = made("One", lambda ctx, x: x * a, b)
    three = made("Three", lambda ctx, x, y, z: x * a - y * b + z, b, a, a - b)
    one = student.as_callable(one)(x)
    three = student.as_callable(three)(x, y, x * y)
    scaled = student.as_callable(made("Scaled", scaled, b * b, None))(x, b)
    return {
        "types": types,
        "one": [one, gradients(one, (x,), v)],
        "three": [three, gradients(three, (x, y), v)],
        "scaled": [scaled, gradients(scaled, (x,), v)],
    }


def apart(student, x, y, a, b):
    """Two Functions of one name made callable one after the other; then the first is called, the
    second, and the first again.
    """
    name = f"Made_{a}_{b}"  # no class of another call has this name
    first = student.as_callable(made(name, lambda ctx, x, y: x * a + y, 1, 1))
    second = student.as_callable(made(name, lambda ctx, x, y: y * b - x, 1, 1))
    return [first(x, y), second(x, y), first(y, x)]


def product(student, x, y):
    """A product as a Function, called by way of as_callable: value, gradients, the class of its
    node.
    """
    cls = made("MyCustomFunction", lambda ctx, x, t: x * t, y, x)
    value = student.as_callable(cls)(x, y)
    node = node_of(value, cls)
    wants = isinstance(value, torch.Tensor)
    return {
        "value": value.detach().clone() if wants else value,
        "gradients": gradients(value, (x, y), torch.ones_like(value)) if wants else None,
        "node": None if node is None else type(node).__name__,
    }
