"""How far a learner has come: one small file in the workspace, which ``grade`` reads and writes and
no score depends on.

``.gradlings.json`` is there where ``grade init`` made a folder, and only there is it written. It is
read with tolerance: what is not as it should be counts as not there, keys that this version doesn't
know are kept, a file that is no JSON is set aside. It is written as a whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome

FILE = ".gradlings.json"
VERSION = 1
MAX_BYTES = 1 << 20
"""No progress is larger; what is, is none."""
HISTORY_LENGTH = 60
"""How many changes of a lesson's score are kept."""
LAST_STEP = 3
"""The last step of the hints."""
WAITS = (Outcome.PASSED, Outcome.SKIPPED, Outcome.NOT_STARTED)
"""Outcomes of a check that is right, waits for another, or for something to be written."""


@dataclass(frozen=True, slots=True)
class MistakeRecord:
    """A mistake that was met: in which check, since when, when that check passed again, and its
    name. Times are ISO 8601, UTC.
    """

    check: str
    seen_at: str
    cleared_at: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """A lesson's score from some time on."""

    at: str
    score: float


@dataclass(frozen=True, slots=True)
class LessonProgress:
    """What is known of one lesson.

    ``stuck_on`` is the function that the last run was about; ``wrong`` the checks that were wrong
    in it, each with its own seed; ``kept`` what a newer version wrote.
    """

    attempts: int = 0
    best: float = 0.0
    last: float = 0.0
    bonus: float = 0.0
    completed_at: str | None = None
    gave_up_at: str | None = None
    stuck_on: str | None = None
    wrong: dict[str, int] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    mistakes: dict[str, MistakeRecord] = field(default_factory=dict)
    history: tuple[ScorePoint, ...] = ()
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return self.completed_at is not None

    @property
    def cleared(self) -> int:
        return sum(sighting.cleared_at is not None for sighting in self.mistakes.values())

    def graded(self, result: LessonResult, at: str) -> LessonProgress:
        if result.status is LessonStatus.NOT_STARTED and not self.attempts:
            return self  # grading all that is here begins no lesson
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
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """All lessons' progress by id."""

    lessons: dict[str, LessonProgress] = field(default_factory=dict)
    version: int = VERSION
    kept: dict[str, Any] = field(default_factory=dict)

    def of(self, lesson: str) -> LessonProgress:
        return self.lessons.get(lesson) or LessonProgress()

    def having(self, lesson: str, progress: LessonProgress) -> Progress:
        return replace(self, lessons={**self.lessons, lesson: progress})


def all_right(result: LessonResult) -> bool:
    """Whether nothing is left to do here: full marks, or in a students' bundle all but what is held
    back.
    """
    plain = [check for check in result.checks if not check.bonus]
    shown = bool(plain) and all(check.outcome is Outcome.PASSED for check in plain)
    return result.status is LessonStatus.PASSED or (result.held_checks > 0 and shown)


def stuck_on(checks: tuple[CheckResult, ...]) -> str | None:
    """The function that the first check is about that is wrong, else the first that is not started;
    None where all is right.
    """
    plain = [check for check in checks if not check.bonus]
    wrong = [check.function for check in plain if check.outcome not in WAITS]
    blank = [check.function for check in plain if check.outcome is Outcome.NOT_STARTED]
    return next(iter(wrong + blank), None)


def with_sightings(
    known: dict[str, MistakeRecord], checks: tuple[CheckResult, ...], at: str
) -> dict[str, MistakeRecord]:
    """Mistakes after one more run: those met now, and those whose check passes cleared."""
    met = {
        check.diagnosis: MistakeRecord(check.id, at, title=check.diagnosis_title)
        for check in reversed(checks)
        if check.diagnosis
    }
    passed = {check.id for check in checks if check.outcome is Outcome.PASSED}
    found = {
        mistake: replace(old, cleared_at=at)
        if old.cleared_at is None and mistake not in met and old.check in passed
        else old
        for mistake, old in known.items()
    }
    for mistake, new in met.items():
        found[mistake] = replace(new, seen_at=known[mistake].seen_at) if mistake in known else new
    return found


# ----------------------------------------------------------------------------------------- the file


def find_workspace(place: Path) -> Path | None:
    """The folder ``place`` or the nearest above it that ``grade init`` made; None where none is."""
    here = place.resolve()
    return next((folder for folder in (here, *here.parents) if (folder / FILE).is_file()), None)


def read_progress(workspace: Path) -> Progress:
    """What the workspace's file says; nothing where it is missing or damaged."""
    data = _data(workspace / FILE)
    if data is None:
        return Progress()
    lessons = {name: _lesson(one) for name, one in _table(data.get("lessons")).items()}
    kept = {key: value for key, value in data.items() if key not in ("version", "lessons")}
    return Progress(lessons, int(_number(data.get("version"), VERSION)), kept)


def update_progress(workspace: Path, change: Callable[[Progress], Progress]) -> Progress:
    """Read, change and write the file; raises OSError where it can't be written. One that is
    damaged is set aside as ``.damaged``.
    """
    path = workspace / FILE
    if path.exists() and _data(path) is None:
        with contextlib.suppress(OSError):
            path.replace(path.with_name(FILE + ".damaged"))
    changed = change(read_progress(workspace))
    _write(
        path, json.dumps(_as_json(changed), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    )
    return changed


def _write(path: Path, text: str) -> None:
    """The file with that text, or as it was."""
    handle, name = tempfile.mkstemp(prefix=FILE, dir=path.parent)
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


def _as_json(progress: Progress) -> dict[str, Any]:
    lessons = {name: _lesson_as_json(one) for name, one in progress.lessons.items()}
    return {"version": max(VERSION, progress.version), **progress.kept, "lessons": lessons}


def _lesson_as_json(one: LessonProgress) -> dict[str, Any]:
    plain = (
        "attempts",
        "best",
        "last",
        "bonus",
        "completed_at",
        "gave_up_at",
        "stuck_on",
        "wrong",
        "hints",
    )
    mistakes = {
        name: {"check": s.check, "seen_at": s.seen_at, "cleared_at": s.cleared_at, "title": s.title}
        for name, s in one.mistakes.items()
    }
    history = [[point.at, point.score] for point in one.history]
    return {
        **one.kept,
        **{key: getattr(one, key) for key in plain},
        "mistakes": mistakes,
        "history": history,
    }


def _data(path: Path) -> dict[str, Any] | None:
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


KNOWN = (
    "attempts",
    "best",
    "last",
    "bonus",
    "completed_at",
    "gave_up_at",
    "stuck_on",
    "wrong",
    "hints",
    "mistakes",
    "history",
)


def _lesson(data: Any) -> LessonProgress:
    data = _table(data)
    mistakes = {
        name: MistakeRecord(
            _text(one.get("check")) or "",
            _text(one.get("seen_at")) or "",
            _text(one.get("cleared_at")),
            _text(one.get("title")),
        )
        for name, one in ((name, _table(one)) for name, one in _table(data.get("mistakes")).items())
    }
    pairs = [
        pair for pair in _list(data.get("history")) if isinstance(pair, list) and len(pair) == 2
    ]
    return LessonProgress(
        attempts=int(_number(data.get("attempts"))),
        best=_number(data.get("best")),
        last=_number(data.get("last")),
        bonus=_number(data.get("bonus")),
        completed_at=_text(data.get("completed_at")),
        gave_up_at=_text(data.get("gave_up_at")),
        stuck_on=_text(data.get("stuck_on")),
        wrong={
            name: int(_number(seed, most=2**32)) for name, seed in _table(data.get("wrong")).items()
        },
        hints={
            name: min(LAST_STEP, int(_number(step)))
            for name, step in _table(data.get("hints")).items()
        },
        mistakes=mistakes,
        history=tuple(ScorePoint(_text(at) or "", _number(score)) for at, score in pairs)[
            -HISTORY_LENGTH:
        ],
        kept={key: value for key, value in data.items() if key not in KNOWN},
    )


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any, default: float = 0.0, *, most: float = 1e9) -> float:
    """A number that is one, finite, not negative, and below ``most``."""
    good = (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and 0 <= value < most
        and math.isfinite(value)
    )
    return value if good else default
