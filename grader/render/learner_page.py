"""Collect what a learner's own page adds to the report: code, progress, earned solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.core.report import CheckResult, LessonResult, add_up
from grader.core.text import clean
from grader.course.progress import LessonProgress, MistakeRecord, ScorePoint
from grader.render.code import CodeLine, DiffRow, beside, coloured, excerpt
from grader.render.readme import Readme

SPARK_WIDTH, SPARK_HEIGHT, SPARK_EDGE = 120.0, 28.0, 3.0
DAY = 10
"""How many characters of an ISO time are the day."""


@dataclass(frozen=True, slots=True)
class MistakeRow:
    """A mistake that was made: its name, the day it was seen, and the day it was fixed."""

    title: str
    seen: str
    cleared: str | None


@dataclass(frozen=True, slots=True)
class LessonHistory:
    """A lesson's part: the graded ``source``, the ``solution`` if the learner may see it, progress,
    and the README.
    """

    source: str = ""
    solution: str | None = None
    progress: LessonProgress = field(default_factory=LessonProgress)
    readme: Readme | None = None

    def excerpt(self, check: CheckResult) -> list[CodeLine]:
        """Return the check's line with its neighbors; none if the file is gone or has changed."""
        lines = self.source.split("\n")
        number = check.source_line or 0
        there = (
            check.cell is None
            and 0 < number <= len(lines)
            and (check.source_text or "") in lines[number - 1]
        )
        return excerpt(self.source, number) if there else []

    def comparison(self) -> list[DiffRow]:
        return beside(self.source, self.solution) if self.source and self.solution else []

    def reference(self) -> str:
        return "\n".join(coloured((self.solution or "").rstrip()))

    @property
    def spark(self) -> str:
        """Return the scores so far as points of an SVG line; empty if there is only one."""
        return sparkline(self.progress.history)

    def earlier_mistakes(self, lesson: LessonResult) -> list[MistakeRow]:
        """Return the mistakes that no check shows now; those not yet fixed come first."""
        shown = {check.diagnosis for check in lesson.checks}
        found = [
            mistake_row(name, sighting)
            for name, sighting in self.progress.mistakes.items()
            if name not in shown
        ]
        return sorted(found, key=lambda one: (one.cleared is not None, one.seen))

    @property
    def hint_steps(self) -> int:
        return sum(self.progress.hints.values())


@dataclass(frozen=True, slots=True)
class LearnerExtras:
    """A learner's part of a page: the time (ISO 8601, local), a part for each lesson, the totals.

    ``upcoming`` is the title of the next lesson, if everything on the page is right.
    """

    made_at: str = ""
    lessons: dict[str, LessonHistory] = field(default_factory=dict)
    finish: Sequence[tuple[str, str]] = ()
    upcoming: str = ""

    def of(self, lesson: LessonResult) -> LessonHistory:
        return self.lessons.get(lesson.id) or LessonHistory()

    def mistakes(self, lessons: Sequence[LessonResult]) -> list[tuple[LessonResult, MistakeRow]]:
        """Return the mistakes that no check of these lessons
        shows; those not yet fixed come first.
        """
        found = [
            (lesson, one) for lesson in lessons for one in self.of(lesson).earlier_mistakes(lesson)
        ]
        return sorted(found, key=lambda pair: pair[1].cleared is not None)

    def best(self, lessons: Sequence[LessonResult]) -> float:
        """Return the sum of the best scores, including this run's."""
        return add_up(max(one.score, self.of(one).progress.best) for one in lessons)

    @property
    def has_readmes(self) -> bool:
        return any(one.readme for one in self.lessons.values())

    @property
    def day(self) -> str:
        """Return ``2026-03-01 14:05``."""
        return self.made_at[:16].replace("T", " ")


def mistake_row(name: str, sighting: MistakeRecord) -> MistakeRow:
    """Return a mistake for display; without a stored name, its id stands for it."""
    cleared = clean(sighting.cleared_at, DAY)[:DAY] if sighting.cleared_at else None
    return MistakeRow(
        clean(sighting.title or name.replace("_", " "), 200), clean(sighting.seen_at)[:DAY], cleared
    )


def sparkline(history: Sequence[ScorePoint]) -> str:
    """Return ``x,y x,y …`` of a line through the scores; empty for fewer than two."""
    if len(history) < 2:
        return ""
    most = max(max(point.score for point in history), 10.0)
    step = (SPARK_WIDTH - 2 * SPARK_EDGE) / (len(history) - 1)
    high = SPARK_HEIGHT - 2 * SPARK_EDGE
    places = (
        (SPARK_EDGE + k * step, SPARK_HEIGHT - SPARK_EDGE - high * point.score / most)
        for k, point in enumerate(history)
    )
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
