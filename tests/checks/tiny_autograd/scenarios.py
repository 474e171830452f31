"""What has to be seen from inside for tiny_autograd: Values can't cross, so expressions come here as text and numbers.

Runs beside the student's module. Imports torch to see whether it is used, sys to count steps, contextlib.
"""

import contextlib
import sys

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
    return hasattr(value, "backward") or (isinstance(student.Value, type) and isinstance(value, student.Value))


def evaluate(student, leaves, steps):
    """The Values by name; and the name and type of a step's result that is none, else None."""
    names = {name: student.Value(data) for name, data in leaves.items()}
    for name, text in steps:
        names[name] = eval(text, {}, names)
        if not is_value(student, names[name]):
            return names, [name, type(names[name]).__name__]
    return names, None


def run(student, leaves, steps, roots):
    """The data of every step, and of the leaves data and grad before backward of each root in turn and after it."""
    seen = {"odd": None}

    def work():
        names, seen["odd"] = evaluate(student, leaves, steps)
        if seen["odd"] is not None:
            return
        seen["data"] = {name: number(value.data) for name, value in names.items()}
        seen["start"] = {name: number(names[name].grad) for name in leaves}
        for root in roots:
            names[root].backward()
        seen["grads"] = {name: number(names[name].grad) for name in leaves}
        seen["after"] = {name: number(value.data) for name, value in names.items()}

    with Operators() as operators:
        steps_taken = counted(work, ENDLESS)
    return {**seen, "steps": steps_taken, "operators": sorted(set(operators.seen))}


def cleared(student, leaves, steps, root, filled):
    """The grads of all names after zero_grad, which were set to the numbers of filled before."""
    seen = {"odd": None}

    def work():
        names, seen["odd"] = evaluate(student, leaves, steps)
        if seen["odd"] is not None:
            return
        for name, grad in filled.items():
            names[name].grad = grad
        seen["before"] = {name: number(names[name].data) for name in filled}
        student.zero_grad(names[root])
        seen["grads"] = {name: number(names[name].grad) for name in filled}
        seen["after"] = {name: number(names[name].data) for name in filled}

    with Operators() as operators:
        steps_taken = counted(work, ENDLESS)
    return {**seen, "steps": steps_taken, "operators": sorted(set(operators.seen))}


def repeated(student, leaves, texts, count, budget=None, filled=None):
    """The texts in turn, count steps on x in all; then backward, or zero_grad where all grads were filled before.

    With a budget, the lines and calls that this took, or None where they would have been more.
    """
    with Operators() as operators:
        names = {name: student.Value(data) for name, data in leaves.items()}
        code = [compile(text, "<step>", "eval") for text in texts]
        nodes = [names["x"]]
        scope = dict(names)
        for k in range(count):
            scope["x"] = eval(code[k % len(code)], {}, scope)
            nodes.append(scope["x"])
            if not is_value(student, nodes[-1]):
                return {"odd": ["x", type(nodes[-1]).__name__], "operators": sorted(set(operators.seen))}
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


def counted(work, budget):
    """How many lines and calls the work took, None for more than the budget; not counted without one."""
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
