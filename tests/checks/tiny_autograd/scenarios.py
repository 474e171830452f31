"""What has to be seen from inside for tiny_autograd: Values can't cross, so expressions come here
as text and numbers.

Runs beside the student's module. Imports torch to see whether it is used, sys to count steps, gc
and types to see what holds what.
"""

import contextlib
import gc
import sys
import types

from torch.utils._python_dispatch import TorchDispatchMode

ENDLESS = 500_000
"""Lines and calls that no expression of a few steps takes."""


class Exhausted(BaseException):
    """More steps than there may be."""


class Operators(TorchDispatchMode):
    """Notes the names of torch's operators that run meanwhile."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch imports its compiler when this class is made, which takes seconds

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.append(function.name().partition("::")[2].partition(".")[0])
        return function(*args, **(kwargs or {}))


def number(value):
    """A copy of a tensor, which a later write would change; anything else as it is."""
    return value.clone() if hasattr(value, "clone") else value


def is_value(student, value):
    """Whether it is a Value, or something that can stand in for one."""
    return hasattr(value, "backward") or (
        isinstance(student.Value, type) and isinstance(value, student.Value)
    )


def evaluate(student, leaves, steps):
    """The Values by name; and the name and type of a step's result that is none, else None."""
    names = {name: student.Value(data) for name, data in leaves.items()}
    for name, text in steps:
        names[name] = eval(text, {}, names)
        if not is_value(student, names[name]):
            return names, [name, type(names[name]).__name__]
    return names, None


def chain(texts):
    """A function (nodes, rounds, **names) that appends what each text makes of x, round by
    round.
    """
    steps = "".join(f"\n        x = {text}; nodes.append(x)" for text in texts)
    scope = {}
    exec(f"def chain(nodes, rounds, x, c, d=None):\n    for _ in range(rounds):{steps}", scope)
    return scope["chain"]


def repeated(student, leaves, texts, count, budget=None, filled=None):
    """The texts in turn, count steps on x in all; then backward, or zero_grad where all grads were
    filled before.

    With a budget, the lines and calls that this took, or None where they would have been more.
    """
    with Operators() as operators:
        names = {name: student.Value(data) for name, data in leaves.items()}
        nodes, raised = [names["x"]], None
        try:
            chain(texts)(nodes, count // len(texts), **names)
        except Exception as error:
            raised = error
        kinds = [type(node).__name__ for node in nodes if not is_value(student, node)]
        if kinds:
            return {"odd": ["x", kinds[0]], "operators": sorted(set(operators.seen))}
        if raised is not None:
            raise raised
        if filled is not None:
            for node in [*names.values(), *nodes]:
                node.grad = filled
        last = nodes[-1]
        work = last.backward if filled is None else lambda: student.zero_grad(last)
        steps = counted(work, budget)
        grads = {name: number(node.grad) for name, node in names.items()}
        left = [] if filled is None else [k for k, node in enumerate(nodes) if node.grad != 0.0]
    return {
        "odd": None,
        "steps": steps,
        "data": number(last.data),
        "grads": grads,
        "left": left[:10],
        "operators": sorted(set(operators.seen)),
    }


# ----------------------------------------------------------------------------------------- pictures

MOST_NODES, MOST_LOOKED_AT = 60, 400
MOST_HELD = 8
"""Values in one container; one that holds more is a list of everything."""


def graph(student, leaves, steps, roots, filled=None):
    """Which Values the last step's holds on to, and these in turn: for each its names, data and
    grad, and pairs of what holds what.

    All that after backward of each root; or, where the grads were filled before, after zero_grad of
    the one root.
    """
    names, values, pairs = {}, [], []

    def work():
        names.update(evaluate(student, leaves, steps)[0])
        for name, grad in (filled or {}).items():
            names[name].grad = grad
        for root in roots:
            names[root].backward() if filled is None else student.zero_grad(names[root])

    counted(work, ENDLESS)
    called = {}
    for name, value in names.items():
        called.setdefault(id(value), []).append(name)
    kinds = tuple({type(value) for value in names.values()})
    values.append(names[steps[-1][0]])
    places = {id(values[0]): 0}
    for place, value in enumerate(values):
        for other in held(value, kinds):
            if id(other) not in places and len(values) < MOST_NODES:
                places[id(other)] = len(values)
                values.append(other)
            if id(other) in places:
                pairs.append([place, places[id(other)]])
    nodes = [
        {"names": called.get(id(value), []), "data": number(value.data), "grad": number(value.grad)}
        for value in values
    ]
    return {"nodes": nodes, "pairs": pairs}


def held(value, kinds):
    """The Values that one holds on to: those in the attribute that leads to most of them, then what
    only others lead to.
    """
    names = [name for cls in type(value).__mro__ for name in cls.__dict__.get("__slots__", ())]
    attributes = [
        *getattr(value, "__dict__", {}).values(),
        *(getattr(value, name, None) for name in names),
    ]
    groups = sorted(
        (nearest(attribute, value, kinds) for attribute in attributes), key=len, reverse=True
    )
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
            waiting += (
                [*(part.__closure__ or ()), *(part.__defaults__ or ())]
                if isinstance(part, types.FunctionType)
                else inside(part)
            )
    return found if len({id(other) for other in found}) <= MOST_HELD else []


def inside(part):
    """What a thing refers to, in its own order."""
    return list(part) if isinstance(part, (list, tuple)) else gc.get_referents(part)


def counted(work, budget):
    """How many lines and calls the work took, None for more than the budget; not counted without
    one.
    """
    if budget is None:
        work()
        return None
    steps = 0

    def trace(frame, event, argument):
        nonlocal steps
        steps += 1
        if steps > budget:
            raise Exhausted
        return trace

    before = sys.gettrace()
    with contextlib.suppress(Exhausted):
        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(before)
    return None if steps > budget else steps
