"""A learner's progress, which no score depends on: its file, the status of each lesson, the next
lesson, and the totals.

``grade init`` makes the file, which is written as a whole or not at all. Nothing is locked: a
lesson that builds on others can be graded at any time.
"""

from __future__ import annotations

import contextlib
import enum
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import msgspec

from grader.core.report import (
    CheckResult,
    LessonResult,
    LessonStatus,
    Outcome,
    Record,
    add_up,
    describe,
)
from grader.core.scoring import FULL_LESSON
from grader.course.course import Course, Lesson

VERSION = 1
HISTORY_LENGTH = 60
"""How many changes of a lesson's score are kept."""
LAST_STEP = 3
"""The last step of the hints."""
COUNT = msgspec.Meta(ge=0)
STEP = msgspec.Meta(ge=0, le=LAST_STEP)


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
    graded_file: str | None = None
    """The digest of the file that was graded last; None if that is not known."""

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
            wrong={check.id: check.seed for check in result.failures},
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
    """All lessons' progress by id. ``latest`` are the lessons of the last run that began any,
    ``chosen`` those for which the folder was made, if not for all. ``course`` is the folder of the
    course for which it was made, if not for the installed one. Nothing is run from there unless it
    is named, because the file may be somebody else's. ``lang`` is the language that was named last.
    """

    lessons: dict[str, LessonProgress] = field(default_factory=dict)
    version: int = VERSION
    latest: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    course: str | None = None
    lang: str | None = None

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
    wrong = [check.function for check in plain if not check.outcome.quiet]
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


T = TypeVar("T")

PROGRESS_FILE = ".gradlings.json"
MAX_BYTES = 1 << 20
"""A larger file counts as damaged."""


class Header(msgspec.Struct):
    """The fields that every version of the file has."""

    version: int = VERSION


def find_workspace(place: Path) -> Path | None:
    """Return ``place`` or the nearest folder above it that ``grade init`` made, or None."""
    here = place.resolve()
    return next(
        (folder for folder in (here, *here.parents) if (folder / PROGRESS_FILE).is_file()), None
    )


def read_progress(workspace: Path) -> Progress:
    """Return the contents of the workspace's file; nothing if it is missing or damaged."""
    return _read(workspace / PROGRESS_FILE, Progress) or Progress()


def update_progress(workspace: Path, change: Callable[[Progress], Progress]) -> Progress:
    """Change the file; raise OSError. A damaged one is kept as ``.damaged``.

    A file of a newer version is left as it is.
    """
    path = workspace / PROGRESS_FILE
    header, progress = _read(path, Header), _read(path, Progress)
    changed = change(progress or Progress())
    if header is None or header.version <= VERSION:
        if progress is None and path.exists():
            with contextlib.suppress(OSError):
                path.replace(path.with_name(PROGRESS_FILE + ".damaged"))
        data = {"version": VERSION, **changed.as_json()}
        text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
        _write(path, text + "\n")
    return changed


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        describe(kind)
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _write(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=PROGRESS_FILE, dir=path.parent)
    try:
        with os.fdopen(
            handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n"
        ) as stream:
            stream.write(text)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


class LessonState(enum.Enum):
    """A learner's status in a lesson."""

    COMPLETE = "complete"
    BEGUN = "in progress"
    OPEN = "open"
    WAITING = "waiting"
    """A lesson that it builds on is not complete."""


def needs(lesson: Lesson, progress: Progress) -> tuple[str, ...]:
    return tuple(other for other in lesson.builds_on if not progress.of(other).complete)


def standing(lesson: Lesson, progress: Progress) -> LessonState:
    mine = progress.of(lesson.id)
    if mine.complete:
        return LessonState.COMPLETE
    if mine.attempts:
        return LessonState.BEGUN
    return LessonState.WAITING if needs(lesson, progress) else LessonState.OPEN


def next_lesson(course: Course, progress: Progress) -> Lesson | None:
    """Return the first incomplete lesson that waits for no other; None if all are complete."""
    unfinished = [lesson for lesson in course.lessons if not progress.of(lesson.id).complete]
    return next(
        (lesson for lesson in unfinished if not needs(lesson, progress)),
        unfinished[0] if unfinished else None,
    )


def opened_by(course: Course, lesson: Lesson, progress: Progress) -> tuple[Lesson, ...]:
    """Return the lessons that waited only for this one."""
    return tuple(
        other
        for other in course.lessons
        if lesson.id in other.builds_on
        and set(needs(other, progress)) <= {lesson.id}
        and not progress.of(other.id).complete
    )


@dataclass(frozen=True, slots=True)
class Achievement:
    """A learner's totals. Days are ISO 8601; ``hints`` counts steps."""

    complete: int
    lessons: int
    score: float
    max_score: float
    bonus: float
    attempts: int
    mistakes: int
    hints: int
    solutions_seen: int
    days: int
    began: str
    ended: str

    @property
    def finished(self) -> bool:
        return self.complete == self.lessons


def course_summary(course: Course, progress: Progress) -> Achievement:
    all_of_it = [progress.of(lesson.id) for lesson in course.lessons]
    times = sorted(point.at for one in all_of_it for point in one.history)
    return Achievement(
        complete=sum(one.complete for one in all_of_it),
        lessons=len(all_of_it),
        score=add_up(one.best for one in all_of_it),
        max_score=FULL_LESSON * len(all_of_it),
        bonus=add_up(one.bonus for one in all_of_it),
        attempts=sum(one.attempts for one in all_of_it),
        mistakes=sum(one.cleared for one in all_of_it),
        hints=sum(step for one in all_of_it for step in one.hints.values()),
        solutions_seen=sum(one.gave_up_at is not None for one in all_of_it),
        days=len({at[:10] for at in times}),
        began=times[0][:10] if times else "",
        ended=max((one.completed_at for one in all_of_it if one.completed_at), default="")[:10],
    )
