"""Objects in the worker that the judge drives: what a student's class or function made, and
everything computed from it.

A step is ``[kind, out, name, args, kwargs, grad]``; ``out`` is the number under which its result is
kept:

========  =============================================================
``call``  call ``args[0]`` with the other arguments
``get``   the attribute ``name`` of ``args[0]``
``set``   set the attribute ``name`` of ``args[0]`` to ``args[1]``
``op``    ``operator.<name>`` of the arguments: ``add``, ``getitem``, …
``put``   ``args[0]`` itself: a tensor that the judge sent, as an object
========  =============================================================
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import torch

from grader.worker.wire.placeholders import ObjectRef

FIRST_OWN = 1 << 40
"""Numbers from here on are the worker's: of objects inside an answer. The judge's begin at 1."""


class Objects:
    """The objects that the judge may refer to by number, until it forgets them all."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}
        self._next = FIRST_OWN

    def keep(self, value: object) -> int:
        """Keep an object that is in an answer; return its number."""
        self._next += 1
        self._known[self._next] = value
        return self._next

    def forget(self) -> None:
        self._known.clear()

    def run(self, steps: Iterable[list[Any]]) -> None:
        """Run steps in order; the first exception of the student's code ends them."""
        for kind, out, name, args, kwargs, grad in steps:
            given = [self.resolve(arg) for arg in args]
            with torch.set_grad_enabled(grad):
                self._known[out] = self._result(kind, name, given, self.resolve(kwargs))

    def _result(self, kind: str, name: str, given: list[Any], kwargs: dict[str, Any]) -> Any:
        if kind == "call":
            return given[0](*given[1:], **kwargs)
        if kind == "get":
            return getattr(given[0], name)
        if kind == "set":
            return setattr(given[0], name, given[1])
        return given[0] if kind == "put" else getattr(operator, name)(*given)

    def resolve(self, value: Any) -> Any:
        """Return plain data with each ``ObjectRef`` replaced by its object."""
        if isinstance(value, ObjectRef):
            return self._known[value.number]
        if type(value) is list:
            return [self.resolve(item) for item in value]
        if type(value) is tuple:
            return tuple(self.resolve(item) for item in value)
        if type(value) is dict:
            return {key: self.resolve(item) for key, item in value.items()}
        return value
