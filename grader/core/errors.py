"""Exceptions that the engine raises on purpose, and the command's exit codes.

::

    GraderError
    ├── UsageError            exit 2: bad input; the message says what, where and the remedy
    │   ├── CourseError       the course folder is not what the engine needs, or a file raises
    │   ├── SubmissionError   a submission that can't be read as one
    │   └── SandboxRefused    a guarantee was required that this host can't give
    └── EngineFault           exit 3: the grader's own fault, never the student's

    StudentCodeError          the student's code raised
    WorkerLost                the worker gave no (usable) answer: ``timeout`` or ``crashed``
    └── WorkerGone            its connection ended, so it has ended or is about to
    CheckFailure              a check failed: the expected value and the returned one
    └── UndefinedTruth        the expected value is NaN, although the check does not expect that

``wire.BrokenFrame`` is not here: the worker imports nothing of the engine except ``wire``. The
judge turns it into ``WorkerLost``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

Facts = dict[str, Any]
"""Values by the names that templates give them."""


class ExitCode(enum.IntEnum):
    """The exit codes of the command."""

    OK = 0
    """Full marks, or the command did what it was asked."""
    NOT_FULL_MARKS = 1
    """Graded, and something is not right yet; for ``verify``: a problem was found."""
    USAGE = 2
    """Bad input: an unknown lesson, a missing folder, a wrong option, a broken course."""
    ENGINE_FAULT = 3
    """A grader fault."""


class Told(Exception):
    """Base of exceptions with a text that can be translated: with ``facts`` it is a template."""

    def __init__(self, template: str, **facts: Any) -> None:
        super().__init__(template.format(**facts) if facts else template)
        self.template = template
        self.facts = facts


class GraderError(Told):
    """Base of what the engine raises for its callers."""

    exit_code = ExitCode.ENGINE_FAULT


class UsageError(GraderError):
    """Bad input; the message states the fact, the object and the remedy."""

    exit_code = ExitCode.USAGE


class CourseError(UsageError):
    """The course folder is not what the engine needs, or one of its files raises."""


class SubmissionError(UsageError):
    """A submission that can't be read as one."""


class SandboxRefused(UsageError):
    """A guarantee was required that this host can't give."""


class EngineFault(GraderError):
    """A grader fault: reported as such, never a zero for the student."""


class HostFault(EngineFault):
    """The host lacks what grading needs; no traceback helps. ``line``: as in ``WorkerLost``."""

    def __init__(self, template: str, *, line: int | None = None, **facts: str) -> None:
        super().__init__(template, **facts)
        self.line = line


class HostBusy(HostFault):
    """The host gave too little processor time to say whether the student's code is slow."""


class HostOutOfMemory(HostFault):
    """The host ran out of memory, so the kernel killed a process of the grader."""


class StudentCodeError(Exception):
    """The student's code raised.

    ``type_name`` is the exception's class, ``ancestors`` its bases, ``message`` its text (cut),
    ``line`` the innermost line of the student's file in the traceback (or None), ``raised_here``
    whether that is the stub's ``raise NotImplementedError``. ``figures``: as in ``CheckFailure``.
    ``wanted`` is the class of another exception that a check expects in its place.
    """

    def __init__(
        self,
        type_name: str,
        message: str,
        *,
        line: int | None = None,
        ancestors: tuple[str, ...] = (),
        raised_here: bool = False,
    ) -> None:
        super().__init__(f"{type_name}: {message}" if message else type_name)
        self.type_name = type_name
        self.message = message
        self.line = line
        self.ancestors = ancestors
        self.raised_here = raised_here
        self.figures: tuple[Callable[[], Any], ...] = ()
        self.wanted: str | None = None

    def is_a(self, name: str) -> bool:
        """Return whether the exception is of the class ``name`` or of one derived from it."""
        return name == self.type_name or name in self.ancestors


class MissingName(Exception):
    """The student's file has no such name."""

    def __init__(self, name: str, present: tuple[str, ...] = ()) -> None:
        super().__init__(name)
        self.name = name
        self.present = present


class WorkerLost(Told):
    """The worker gave no usable answer; ``outcome`` is ``timeout`` or ``crashed``.

    ``line`` is where in the student's file the worker was, if known. ``waits_for`` is the id of an
    earlier check in which the same function did not end.
    """

    line: int | None = None
    waits_for: str | None = None

    def __init__(self, outcome: str, template: str, **facts: Any) -> None:
        super().__init__(template, **facts)
        self.outcome = outcome


class WorkerGone(WorkerLost):
    """The worker's connection ended; its exit status says why, unless it sent malformed data."""


class CheckFailure(AssertionError):
    """A check's negative verdict, structured so that each renderer can word it.

    ``expected``, ``actual`` and ``inputs`` are values as the check had them; ``facts`` are further
    values for the diagnosis and the report; ``figures`` are functions that make figures. ``line``
    is the line of the student's file to show, or ``at`` the definition, such as ``Dual.log``, if
    that is not the check's; ``checker`` is the gradcheck that failed: its name and its arguments.
    These three are separate from ``facts``, because facts may contain any key that a worker sent.
    """

    def __init__(
        self,
        message: str,
        *,
        expected: Any = None,
        actual: Any = None,
        inputs: Facts | None = None,
        facts: Facts | None = None,
        figures: Sequence[Callable[[], Any]] = (),
        line: int | None = None,
        at: str | None = None,
        checker: tuple[Any, ...] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.at = at
        self.checker = checker
        self.expected = expected
        self.actual = actual
        self.inputs = inputs or {}
        self.facts = facts or {}
        self.figures = tuple(figures)


class UndefinedTruth(CheckFailure):
    """The expected value is NaN, although the check does not expect that. It is the author's
    mistake, unless the check took the value from the student's code.
    """
