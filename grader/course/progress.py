"""A learner's progress, which no score depends on. ``grade init`` makes its file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

import msgspec

from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Record

VERSION = 1
HISTORY_LENGTH = 60
"""How many changes of a lesson's score are kept."""
LAST_STEP = 3
"""The last step of the hints."""
COUNT = msgspec.Meta(ge=0)
STEP = msgspec.Meta(ge=0, le=LAST_STEP)
WAITS = (Outcome.PASSED, Outcome.SKIPPED, Outcome.NOT_STARTED)
"""Outcomes of checks that pass, wait for another check, or wait for code."""


@dataclass(frozen=True, slots=True)
class MistakeRecord:
    """A mistake that was made: its check and name, when it was first seen and fixed (ISO 8601,
    UTC).
    """

    check: str
    seen_at: str
    cleared_at: str | None = None
    title: str | None = None


class ScorePoint(NamedTuple):
    """A lesson's score from a certain time on."""

    at: str
    score: float


@dataclass(frozen=True, slots=True)
class LessonProgress:
    """What is known of one lesson.

    ``stuck_on`` is the function that the last run was about; ``wrong`` has the checks that failed
    in it, each with its seed. ``repairs`` has what to write instead of a function's wrong
    expression, which only the last hint shows; ``named`` has the name of its mistake in that run.
    """

    attempts: Annotated[int, COUNT] = 0
    best: Annotated[float, COUNT] = 0.0
    last: Annotated[float, COUNT] = 0.0
    bonus: Annotated[float, COUNT] = 0.0
    completed_at: str | None = None
    gave_up_at: str | None = None
    stuck_on: str | None = None
    wrong: dict[str, Annotated[int, COUNT]] = field(default_factory=dict)
    hints: dict[str, Annotated[int, STEP]] = field(default_factory=dict)
    mistakes: dict[str, MistakeRecord] = field(default_factory=dict)
    history: tuple[ScorePoint, ...] = ()
    repairs: dict[str, str] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return self.completed_at is not None

    @property
    def cleared(self) -> int:
        return sum(sighting.cleared_at is not None for sighting in self.mistakes.values())

    def graded(self, result: LessonResult, at: str) -> LessonProgress:
        if result.status is LessonStatus.NOT_STARTED and not self.attempts:
            return self  # grading all lessons does not begin one
        judged = result.status not in (LessonStatus.MISSING, LessonStatus.INVALID)
        if not judged or any(check.outcome is Outcome.GRADER_ERROR for check in result.checks):
            return replace(self, attempts=self.attempts + (result.status is LessonStatus.INVALID))
        history = self.history
        if not history or history[-1].score != result.score:
            history = (*history, ScorePoint(at, result.score))[-HISTORY_LENGTH:]
        return replace(
            self,
            attempts=self.attempts + 1,
            best=max(self.best, result.score),
            last=result.score,
            bonus=max(self.bonus, result.bonus),
            completed_at=self.completed_at or (at if all_right(result) else None),
            stuck_on=stuck_on(result.checks),
            wrong={check.id: check.seed for check in result.checks if check.outcome not in WAITS},
            mistakes=with_sightings(self.mistakes, result.checks, at),
            history=history,
            repairs={},
            named={
                check.function: check.diagnosis_title
                for check in reversed(result.checks)
                if check.diagnosis_title
            },
        )


@dataclass(frozen=True, slots=True)
class Progress(Record):
    """All lessons' progress by id; ``latest`` are the lessons of the last run that began any."""

    lessons: dict[str, LessonProgress] = field(default_factory=dict)
    version: int = VERSION
    latest: tuple[str, ...] = ()

    def of(self, lesson: str) -> LessonProgress:
        return self.lessons.get(lesson) or LessonProgress()

    def having(self, lesson: str, progress: LessonProgress) -> Progress:
        return replace(self, lessons={**self.lessons, lesson: progress})


def all_right(result: LessonResult) -> bool:
    """Return whether nothing is left to do here, without checks that are held back."""
    plain = [check for check in result.checks if not check.bonus]
    shown = bool(plain) and all(check.outcome is Outcome.PASSED for check in plain)
    return result.status is LessonStatus.PASSED or (result.held_checks > 0 and shown)


def stuck_on(checks: tuple[CheckResult, ...]) -> str | None:
    """Return the function of the first wrong or not started check; None if all are right."""
    plain = [check for check in checks if not check.bonus]
    wrong = [check.function for check in plain if check.outcome not in WAITS]
    blank = [check.function for check in plain if check.outcome is Outcome.NOT_STARTED]
    return next(iter(wrong + blank), None)


def with_sightings(
    known: dict[str, MistakeRecord], checks: tuple[CheckResult, ...], at: str
) -> dict[str, MistakeRecord]:
    """Return the mistakes after one more run: those seen now, and those whose check passes as
    cleared.
    """
    seen = {
        check.diagnosis: MistakeRecord(check.id, at, title=check.diagnosis_title)
        for check in reversed(checks)
        if check.diagnosis
    }
    passed = {check.id for check in checks if check.outcome is Outcome.PASSED}
    found = {
        mistake: replace(old, cleared_at=at)
        if old.cleared_at is None and mistake not in seen and old.check in passed
        else old
        for mistake, old in known.items()
    }
    for mistake, new in seen.items():
        found[mistake] = replace(new, seen_at=known[mistake].seen_at) if mistake in known else new
    return found
