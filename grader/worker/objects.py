"""Keep objects in the worker for the judge: results of a student's classes and functions, and
everything computed from them.

A step is ``[kind, out, name, args, kwargs, grad]``. ``out`` is the number under which its result is
kept, ``grad`` whether autograd is recording.

========  ==============================================================
``call``   call ``args[0]`` with the other arguments
``get``    the attribute ``name`` of ``args[0]``
``set``    set the attribute ``name`` of ``args[0]`` to ``args[1]``
``op``     ``operator.<name>`` of the arguments: ``add``, ``getitem``, …
``torch``  the function of torch called ``name``, by its full name, on the arguments
``put``    ``args[0]`` itself: a tensor that the judge sent, as an object
========  ==============================================================
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterable
from typing import Any

import torch

from grader.worker.wire.placeholders import PLAIN, ObjectRef

FIRST_OWN = 1 << 40
"""The worker numbers the objects inside its answers from here on. The judge numbers its steps from
1.
"""


class Objects:
    """The objects that the judge can refer to by number, until it forgets all of them."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}
        self._next = FIRST_OWN

    def keep(self, value: object) -> int:
        """Keep an object that an answer contains; return its number."""
        self._next += 1
        self._known[self._next] = value
        return self._next

    def forget(self) -> None:
        self._known.clear()

    def run(self, steps: Iterable[list[Any]], decode: Callable[[Any], Any]) -> None:
        """Run steps in order; the first exception of the student's code ends them. ``decode``
        returns the value of an argument's data.
        """
        known = self._known

        def value(data: Any) -> Any:
            if type(data) in PLAIN:
                return data
            if type(data) is dict and "object" in data:
                return known[data["object"]]
            return self.resolve(decode(data))

        for kind, out, name, args, kwargs, grad in steps:
            given = [value(data) for data in args]
            with contextlib.nullcontext() if grad else torch.no_grad():
                if kind == "op":
                    known[out] = getattr(operator, name)(*given)
                elif kind == "call":
                    known[out] = given[0](*given[1:], **(value(kwargs) if kwargs else {}))
                elif kind == "torch":
                    function = operator.attrgetter(name.removeprefix("torch."))(torch)
                    known[out] = function(*given, **(value(kwargs) if kwargs else {}))
                elif kind == "get":
                    known[out] = getattr(given[0], name)
                elif kind == "set":
                    setattr(given[0], name, given[1])
                else:
                    known[out] = given[0]

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
