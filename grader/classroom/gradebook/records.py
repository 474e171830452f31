"""A submission in the gradebook: its report, adjustments, or why it could not be graded.

Exports, pages and tables are made from ``GradebookEntry`` records alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.classroom.imports.records import StudentIdentity
from grader.core.report import CheckResult, LessonResult, Report


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change of a score by a person, when in ISO 8601 (UTC); ``lesson`` None: the total."""

    points: float
    reason: str
    author: str
    made_at: str
    lesson: str | None = None


def label_of(students: Sequence[StudentIdentity], name: str) -> str:
    """Whom a submission is from, for people; its own name where nobody is known."""
    return ", ".join(student.name for student in students) or name


@dataclass(frozen=True, slots=True)
class GradebookEntry:
    """One entry of the gradebook.

    ``report`` is None if the submission could not be read (``problem`` says why, ``fault``: by our
    fault) or if a student on the roster handed nothing in (``missing``).
    """

    name: str
    students: tuple[StudentIdentity, ...]
    report: Report | None = None
    problem: str | None = None
    fault: bool = False
    missing: bool = False
    late: bool = False
    attempt: int = 1
    adjustments: tuple[Adjustment, ...] = ()

    @property
    def label(self) -> str:
        return label_of(self.students, self.name)

    @property
    def adjusted_by(self) -> float:
        return round(sum(one.points for one in self.adjustments), 4)

    @property
    def score(self) -> float:
        """The points that count, adjustments included, at least zero; without bonus points."""
        return max(0.0, round((self.report.score if self.report else 0.0) + self.adjusted_by, 4))

    @property
    def grader_faults(self) -> tuple[CheckResult, ...]:
        return self.report.grader_faults if self.report else ()

    def lesson(self, lesson_id: str) -> LessonResult | None:
        found = [one for one in self.report.lessons if one.id == lesson_id] if self.report else []
        return found[0] if found else None

    def lesson_score(self, lesson_id: str) -> float:
        result = self.lesson(lesson_id)
        changed = sum(one.points for one in self.adjustments if one.lesson == lesson_id)
        return max(0.0, round((result.score if result else 0.0) + changed, 4))


@dataclass(frozen=True, slots=True)
class LessonColumn:
    """A lesson's columns: its points, and its checks as (id, title, points, bonus, hidden)."""

    id: str
    title: str
    max_score: float
    max_bonus: float
    checks: tuple[CheckColumn, ...]


@dataclass(frozen=True, slots=True)
class CheckColumn:
    """A check as the gradebook's columns have it."""

    id: str
    title: str
    max_points: float
    bonus: bool
    hidden: bool
