"""Inspect a recorded step: the parts of its result, and the Python for its call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.overrides import resolve_name

from grader.judge.remote.objects import RemoteObject
from grader.judge.replay.literals import NoLiteral
from grader.judge.replay.recording import Step

STUDENT_STEPS = ("call", "observe", "get", "object", "fetch")


def parts_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a result and its parts, each with its path: ``["gradient"]``, ``[0]``. Numbers inside
    are left out, because they have no identity.
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
    """Return the name of a torch function in code."""
    if function in (torch.autograd.grad, torch.autograd.backward):
        return f"torch.autograd.{function.__name__}"
    name = resolve_name(function)
    if name is None:
        raise NoLiteral(f"{getattr(function, '__name__', function)} has no public name")
    return str(name)


def returns_nothing(step: Step) -> bool:
    return step.what in (Tensor.backward, torch.autograd.backward)


def looks_only(step: Step) -> bool:
    """Return whether a torch step only reads a value, such as a comparison."""
    return (
        step.kind == "torch"
        and step.raised is None
        and not (step.what is torch.autograd.grad or returns_nothing(step))
    )
