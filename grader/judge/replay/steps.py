"""Inspect recorded steps: the parts of a result, the Python for a call, which step went wrong."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import resolve_name

from grader.judge.remote.objects import RemoteObject
from grader.judge.replay import object_steps
from grader.judge.replay.literals import NoLiteral
from grader.judge.replay.recording import Step, tensors_in

Origins = Mapping[int, tuple[Step, str]]
"""The step that gave a value, and its place in the result, by the value's id."""
STUDENT_STEPS = ("call", "observe", "get", "copy", "object", "fetch")


def parts_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a result and its parts, each with its path: ``["gradient"]``, ``[0]``. Integers, bools
    and None inside it are left out, because equal ones are the same object.
    """
    if isinstance(value, Tensor | RemoteObject | list | tuple | dict | float | str) or (
        path == "" and value is not None
    ):
        yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from parts_of(item, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from parts_of(item, f"{path}[{index}]")


def call_name(function: Any) -> str:
    """Return a torch function's name as code, ``torch.Tensor.sum``; raise NoLiteral without one."""
    if function in (torch.autograd.grad, torch.autograd.backward):
        return f"torch.autograd.{function.__name__}"
    name = resolve_name(function)
    if name is None:
        raise NoLiteral(f"{getattr(function, '__name__', function)} has no public name")
    return str(name)


def returns_nothing(step: Step) -> bool:
    return step.what in (Tensor.backward, torch.autograd.backward)


def only_reads(step: Step) -> bool:
    """Return whether a torch step only reads a value, such as a comparison."""
    return (
        step.kind == "torch"
        and step.raised is None
        and not (step.what is torch.autograd.grad or returns_nothing(step))
    )


def dependent(steps: Sequence[Step], origins: Origins) -> set[int]:
    """Return the ids of the steps that depend on a student's answer."""
    found: set[int] = set()
    for step in steps:
        given = (origins.get(id(one)) for one in tensors_in((step.args, step.kwargs)))
        if step.kind in STUDENT_STEPS or any(
            origin is not None and id(origin[0]) in found for origin in given
        ):
            found.add(id(step))
    return found


def wrong_step(
    steps: Sequence[Step], students: set[int], origins: Origins, actual: Any
) -> tuple[Step, str]:
    """Return the step that gave the wrong value, and its place in the result; else the last step
    that used the student's code. Raise NoLiteral if there is none.
    """
    used = [step for step in steps if id(step) in students and not only_reads(step)]
    if not used:
        raise NoLiteral("the check does not call your code: it reads the file")
    if used[-1].raised is None and actual is not None and not isinstance(actual, bool):
        fetched = object_steps.of_value(steps, actual)
        if fetched is not None and id(fetched) in origins:
            return origins[id(fetched)]
        step, path = origins.get(id(actual), (None, ""))
        if step is not None and id(step) in students:
            return step, path
    return _before_fetch(steps, used[-1]), ""


def _before_fetch(steps: Sequence[Step], step: Step) -> Step:
    """Return the last step on an object before a fetch; for any other step, the step itself."""
    if step.kind != "fetch":
        return step
    before = itertools.takewhile(lambda one: one is not step, steps)
    return [one for one in before if one.kind == object_steps.OBJECT][-1]
