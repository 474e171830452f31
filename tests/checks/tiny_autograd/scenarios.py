"""What only the worker can observe in tiny_autograd: whether torch runs, how much Python runs, and
which Values hold which.
"""

import contextlib
import gc
import sys
import types

from torch.utils._python_dispatch import TorchDispatchMode


class Operators(TorchDispatchMode):
    """Notes the names of torch's operators that run meanwhile."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch imports its compiler when this class is made, which takes seconds

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.add(function.name().partition("::")[2].partition(".")[0])
        return function(*args, **(kwargs or {}))


def operators_of_a_sum(student, clears):
    """The names of torch's operators that run while a sum is computed, and derived or cleared."""
    with Operators() as operators:
        x = student.Value(2.0)
        root = x + student.Value(3.0)
        student.zero_grad(root) if clears else root.backward()
        _ = root.data, x.grad  # they may be computed when they are read
    return sorted(operators.seen)


class Exhausted(BaseException):
    """More lines than there may be."""


def lines_run(student, root, clears, most):
    """How many lines and calls zero_grad(root), or root.backward(), takes; None if more than
    most.
    """
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += 1
        if count > most:
            raise Exhausted
        return trace

    before = sys.gettrace()
    with contextlib.suppress(Exhausted):
        sys.settrace(trace)
        try:
            student.zero_grad(root) if clears else root.backward()
        finally:
            sys.settrace(before)
    return count if count <= most else None


# ----------------------------------------------------------------------------------------- pictures

MOST_NODES, MOST_LOOKED_AT = 60, 400
MOST_HELD = 8
"""Values in one container; one that holds more is a list of everything."""


def links(student, names, root):
    """Which Values root holds on to, and these in turn: for each its names, data and grad, and
    pairs of what holds what.
    """
    called = {}
    for name, value in names.items():
        called.setdefault(id(value), []).append(name)
    kinds = tuple({type(value) for value in names.values()})
    values, places, pairs = [root], {id(root): 0}, []
    for place, value in enumerate(values):  # the list grows meanwhile
        for other in held(value, kinds):
            if id(other) not in places and len(values) < MOST_NODES:
                places[id(other)] = len(values)
                values.append(other)
            if id(other) in places:
                pairs.append([place, places[id(other)]])
    nodes = [
        {"names": called.get(id(value), []), "data": value.data, "grad": value.grad}
        for value in values
    ]
    return {"nodes": nodes, "pairs": pairs}


def held(value, kinds):
    """The Values that one holds on to: those in the attribute that leads to most of them, then what
    only others lead to.
    """
    slots = [name for cls in type(value).__mro__ for name in cls.__dict__.get("__slots__", ())]
    attributes = [*getattr(value, "__dict__", {}).values()]
    attributes += [getattr(value, name, None) for name in slots]
    groups = [nearest(attribute, value, kinds) for attribute in attributes]
    groups.sort(key=len, reverse=True)
    found = groups[0] if groups else []
    for other in (other for group in groups[1:] for other in group):
        if all(other is not one for one in found):
            found.append(other)
    return found


def nearest(thing, value, kinds):
    """The Values other than this one that a thing is, holds or closes over; behind a Value nothing
    is looked for.
    """
    found, seen, waiting = [], set(), [thing]
    while waiting and len(seen) < MOST_LOOKED_AT:
        part = waiting.pop(0)
        if isinstance(part, kinds):
            found += [part] if part is not value else []
        elif id(part) not in seen and not isinstance(part, (type, types.ModuleType)):
            seen.add(id(part))
            waiting += parts_of(part)
    return found if len({id(other) for other in found}) <= MOST_HELD else []


def parts_of(thing):
    """What a thing refers to, in its own order; of a function what it closes over."""
    if isinstance(thing, types.FunctionType):
        return [*(thing.__closure__ or ()), *(thing.__defaults__ or ())]
    return list(thing) if isinstance(thing, (list, tuple)) else gc.get_referents(thing)
