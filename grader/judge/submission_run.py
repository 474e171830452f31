"""The state of judging one submission: made for it, dropped after it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Protocol

import pytest

from grader.core.i18n import Catalogue
from grader.core.limits import Limits
from grader.core.report import Outcome
from grader.course.source import Source
from grader.judge.behavior import KnownFailure
from grader.judge.checks import CheckSpec
from grader.judge.remote.proxies import Traffic
from grader.judge.remote.session import Student
from grader.judge.replay.recording import Recorder
from grader.judge.seeds import Seeds


class JudgedSession(Protocol):
    """What judging needs of a session with a student's module.

    ``StudentSession`` documents each member; benchmarks have one without a process border.
    """

    source: Source
    limits: Limits

    @property
    def loadable(self) -> bool: ...

    def load(self) -> None: ...

    def student(self) -> Student: ...

    def begin_check(self) -> Traffic: ...

    def flush(self) -> None: ...

    def take_output(self) -> str: ...

    def off_the_clock(self) -> contextlib.AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One check, run on one submission; ``traffic`` is what crosses the border during the check."""

    id: str
    item: pytest.Item
    spec: CheckSpec
    seed: int
    traffic: Traffic


@dataclass(slots=True)
class SubmissionRun:
    """One submission, judged check by check.

    ``tr`` notes which of this submission's messages have no translation. ``recorded`` is the id of
    the check whose script was requested; ``script`` has its lines, or says why there are none.
    """

    session: JudgedSession
    student: Student = field(init=False)
    seeds: Seeds
    tr: Catalogue
    recorded: str | None = None
    script: tuple[str, ...] | str | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """The outcomes, by the name of a check's function."""
    naming_off: tuple[str, ...] = ()
    failures: dict[str, KnownFailure] = field(default_factory=dict)
    """The failures, by the id of a check."""
    unsure_of_line: set[str] = field(default_factory=set)
    """The ids of failed checks of which it is unknown at which return the function ended."""
    reported_bytes: int = 0
    """How many bytes of JSON the results take so far."""
    check: CheckRun = field(init=False)
    """The check that is running, or ran last."""
    _recorder: Recorder | None = None
    _untouched: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.student = self.session.student()

    def begin(self, check_id: str, item: pytest.Item, spec: CheckSpec) -> CheckRun:
        """Begin a check, and forget what the last one did at the border."""
        seed, traffic = self.seeds.of(check_id), self.session.begin_check()
        self.check = CheckRun(check_id, item, spec, seed, traffic)
        return self.check

    def student_for_check(self) -> Student:
        """Return the student to pass to the check: a recorder's, if the check is recorded."""
        if self.check.id != self.recorded:
            return self.student
        self._recorder = Recorder(self.session)
        return self._recorder.student

    @property
    def recorder(self) -> Recorder | None:
        """Return the check's recorder, if the check is recorded and used the student."""
        return self._recorder if self.check.id == self.recorded else None

    def recording(self) -> contextlib.AbstractContextManager[object]:
        """Return a block in which the check is recorded, if its script was requested."""
        return self.recorder or contextlib.nullcontext()

    def untouched(self, name: str, stub: Source) -> bool:
        """Return whether a definition is still the stub's and the file does not change it
        elsewhere. If it can't be compared, it is not.
        """
        if name not in self._untouched:
            source = self.session.source
            self._untouched[name] = False
            with contextlib.suppress(ValueError, RecursionError):
                same = source.same_definition(stub, name)
                self._untouched[name] = same and not source.may_be_changed(name)
        return self._untouched[name]
