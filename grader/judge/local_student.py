"""Run a student's module in this process: for references, which we trust, and for benchmarks.

It has the interface of ``proxies.RemoteStudent``. Never use it for a submission: the module's code
runs here, on the judge's own tensors.
"""

from __future__ import annotations

import contextlib
import types
from typing import Any

from torch import Tensor

from grader.core.errors import MissingName
from grader.course.course import Lesson
from grader.course.source import Source
from grader.judge.remote.proxies import Copies
from grader.worker.wire.values import round_trip


def library() -> types.ModuleType:
    """Return the scenarios that every lesson has. A process that forks workers does not import
    them.
    """
    import grader.worker.scenarios

    return grader.worker.scenarios


class MissingReference:
    """Stands for the solution in a students' bundle: every name is missing."""

    def __getattr__(self, name: str) -> Any:
        raise MissingName(name)


class LocalStudent:
    """A module that was executed here, with its scenarios."""

    def __init__(
        self, source: Source, scenarios: str, *, module: types.ModuleType | None = None
    ) -> None:
        """Use ``module`` if the source was executed already."""
        self.source = source
        self._module = module or execute(source.text, source.module, source.filename)
        self._scenarios = execute(scenarios, "scenarios", "<scenarios>")

    def observe(self, scenario: str, *args: Any, **kwargs: Any) -> Any:
        """Run a scenario on copies, and on the student's objects; return its measurements as they
        would cross the border.
        """
        args, kwargs = (round_trip(one, objects=True) for one in (args, kwargs))
        run = getattr(self._scenarios, scenario, None) or getattr(library(), scenario)
        return round_trip(run(self._module, *args, **kwargs))

    def writing_allowed(self) -> contextlib.AbstractContextManager[Copies]:
        """Return a block, like ``RemoteStudent``. Here ``copies.of(x)`` is x itself."""
        return contextlib.nullcontext(Copies())

    def put(self, tensor: Tensor) -> Any:
        """Return a copy, like ``RemoteStudent``."""
        return round_trip(tensor)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


Reference = LocalStudent | MissingReference


def reference_of(lesson: Lesson) -> Reference:
    if lesson.held:
        return MissingReference()
    solution = Source(lesson.solution.read_text("utf-8"), lesson.filename)
    return LocalStudent(solution, lesson.scenarios_text)


def execute(text: str, name: str, filename: str) -> types.ModuleType:
    """Return a new module with ``text`` executed in it."""
    module = types.ModuleType(name)
    module.__file__ = filename
    exec(compile(text, filename, "exec", dont_inherit=True), module.__dict__)
    return module
