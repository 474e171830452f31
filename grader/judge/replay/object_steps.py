"""Select the steps on remote objects that a script needs, and write each as Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from grader.judge.remote.objects import RemoteObject, objects_in
from grader.judge.replay.recording import Step

OBJECT = "object"
SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@"}
UNARY = {"neg": "-", "pos": "+"}
WITH_EFFECT = ("call", "set", "torch")


def of_value(steps: Sequence[Step], value: Any) -> RemoteObject | None:
    """Return the object whose fetched value this is; for a dictionary, that of its last value."""
    wanted = list(value.values())[-1:] if isinstance(value, dict) else [value]
    for step in reversed(steps):
        if step.kind == "fetch":
            for one, fetched in zip(step.args, step.result or (), strict=False):
                if any(fetched is part for part in wanted):
                    return one  # type: ignore[no-any-return]
    return None


def needed_for(steps: Sequence[Step], last: Step) -> list[Step]:
    """Return the steps on objects that lead to ``last``, in order: those that it uses, and all that
    may have changed what it uses.
    """
    before = [step for step in steps[: _place(steps, last) + 1] if step.kind == OBJECT]
    related = _related(before, last)
    used: set[int] = set()
    needed = []
    for step in reversed(before):
        touches = any(id(one) in related for one in _objects_of(step))
        if step is last or id(step.result) in used or (touches and step.what[0] in WITH_EFFECT):
            needed.append(step)
            used.update(id(one) for one in objects_in((step.args, step.kwargs)))
    return needed[::-1]


def _place(steps: Sequence[Step], last: Step) -> int:
    return next(place for place, step in enumerate(steps) if step is last)


def _objects_of(step: Step) -> Iterator[RemoteObject]:
    yield from objects_in((step.args, step.kwargs, step.result))


def _related(steps: Sequence[Step], last: Step) -> set[int]:
    """Return the ids of all objects that steps connect with the last one's."""
    related = {id(one) for one in _objects_of(last)}
    while True:
        more = set(related)
        for step in steps:
            ids = {id(one) for one in _objects_of(step)}
            if ids & more:
                more |= ids
        if more == related:
            return related
        related = more


def expression(step: Step, value: Callable[[Any], str]) -> str:
    """Return a step as Python: an expression, or an assignment."""
    kind, name = step.what
    args = [value(arg) for arg in step.args]
    options = [f"{key}={value(option)}" for key, option in step.kwargs.items()]
    if kind == "put":
        return args[0]
    if kind == "get":
        return f"{args[0]}.{name}"
    if kind == "set":
        return f"{args[0]}.{name} = {args[1]}"
    if kind == "call":
        return f"{args[0]}({', '.join([*args[1:], *options])})"
    if kind == "torch":
        return f"{name}({', '.join([*args, *options])})"
    if name in SIGNS:
        args = [f"({arg})" if arg.startswith("-") else arg for arg in args]
        return f"{args[0]} {SIGNS[name]} {args[1]}"
    if name == "is_":
        return f"{args[0]} is {args[1]}"
    if name == "getitem":
        return f"{args[0]}[{args[1]}]"
    return f"{UNARY[name]}{args[0]}" if name in UNARY else f"{name}({args[0]})"
