"""The check that is running: its student and its source of randomness, for what checks share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from grader.core.errors import CheckFailure
from grader.judge.misuse import misuse
from grader.judge.random_inputs import RandomInputs


@dataclass(frozen=True, slots=True)
class RunningCheck:
    """What a check got."""

    student: Any
    draw: RandomInputs


_running: ContextVar[RunningCheck | None] = ContextVar("running", default=None)


@contextlib.contextmanager
def running(student: Any, draw: RandomInputs) -> Iterator[None]:
    """Run a check in a block. A failure that does not say what its inputs are gets those that
    ``draw.given`` named last.
    """
    token = _running.set(RunningCheck(student, draw))
    try:
        yield
    except CheckFailure as failure:
        failure.inputs = failure.inputs or dict(draw.named)
        raise
    finally:
        _running.reset(token)


def running_check() -> RunningCheck:
    """Return the check that is running; raise CourseError outside of one."""
    found = _running.get()
    if found is None:
        raise misuse("this works only inside a check, and not while the truth is computed")
    return found


class InCheck:
    """Base of what asks the student of the check that is running."""

    @property
    def student(self) -> Any:
        return running_check().student

    @property
    def draw(self) -> RandomInputs:
        return running_check().draw


@contextlib.contextmanager
def outside_of_checks() -> Iterator[None]:
    """Hide the check that is running from a block, which must not ask the student."""
    token = _running.set(None)
    try:
        yield
    finally:
        _running.reset(token)
