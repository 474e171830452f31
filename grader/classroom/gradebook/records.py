"""A submission in the gradebook: its report, adjustments, or why it could not be graded.

Exports, pages and tables use only ``GradebookEntry`` records.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from grader.classroom.gradebook.lateness import Lateness
from grader.classroom.imports.names import name_list
from grader.classroom.imports.records import StudentIdentity
from grader.core.report import CheckResult, LessonResult, Record, Report


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change of a score by a person. ``made_at`` is ISO 8601 in UTC; ``lesson`` is None
    for the total.
    """

    points: float
    reason: str
    author: str
    made_at: str
    lesson: str | None = None


@dataclass(frozen=True, slots=True)
class Comment:
    """A remark on a submission, on a lesson, or on a line of its file.

    ``code`` is that line at the time of the remark; ``number`` is the comment's number in the
    gradebook.
    """

    number: int
    text: str
    author: str
    made_at: str
    lesson: str | None = None
    line: int | None = None
    code: str = ""


@dataclass(frozen=True, slots=True)
class PersonalPart(Record):
    """What a student's page shows beside the report: whose it is, and what people added."""

    called: str = ""
    adjustments: tuple[Adjustment, ...] = ()
    comments: tuple[Comment, ...] = ()
    lateness: Lateness | None = None


def students_label(students: Sequence[StudentIdentity], name: str) -> str:
    """Return the names of a submission's students; its own name if no student is known."""
    return name_list(student.name for student in students) or name


def time_on_roster(students: Sequence[StudentIdentity]) -> str | None:
    """Return when a submission of these students was handed in, if the roster says so."""
    times = [one.details["handed_in"] for one in students if "handed_in" in one.details]
    return max(times, default=None)


def students_as_json(students: Sequence[StudentIdentity]) -> str:
    """Return ``[[name, ids], ...]``, with a third item where a roster adds details."""
    people = [
        [student.name, student.ids, *([student.details] if student.details else [])]
        for student in students
    ]
    return json.dumps(people, sort_keys=True)


def students_from_json(text: str) -> tuple[StudentIdentity, ...]:
    return tuple(StudentIdentity(*one) for one in json.loads(text))


@dataclass(frozen=True, slots=True)
class GradebookEntry:
    """One entry of the gradebook.

    ``report`` is None if the submission could not be read (``problem`` says why; ``fault`` marks a
    grader fault) or if a student on the roster handed nothing in (``missing``). ``handed_in`` is
    the time in UTC, if known; ``lateness`` is the delay by the class's rule; ``came_as`` is the
    name of its folder or file in the download; ``history`` has what each version of its files
    earned.
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
    comments: tuple[Comment, ...] = ()
    handed_in: str | None = None
    lateness: Lateness | None = None
    came_as: str = ""
    history: tuple[float, ...] = ()

    @property
    def label(self) -> str:
        return students_label(self.students, self.name)

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections of its students, as the roster has them."""
        named = (student.details.get("section", "") for student in self.students)
        return tuple(dict.fromkeys(section for section in named if section))

    @property
    def adjusted_by(self) -> float:
        return round(sum(one.points for one in self.adjustments), 4)

    @property
    def earned(self) -> float:
        """The points that the code earned, before penalty and adjustments."""
        return self.report.score if self.report else 0.0

    @property
    def penalty(self) -> float:
        """The points that lateness takes off what was earned."""
        return self._lost(self.earned)

    @property
    def score(self) -> float:
        """The points that count: earned points minus the penalty, adjusted, without bonus, at least
        zero.
        """
        return max(0.0, round(self.earned - self.penalty + self.adjusted_by, 4))

    def _lost(self, earned: float) -> float:
        return round(earned * self.lateness.percent / 100, 4) if self.lateness else 0.0

    @property
    def personal_part(self) -> PersonalPart:
        return PersonalPart(self.label, self.adjustments, self.comments, self.lateness)

    @property
    def grader_faults(self) -> tuple[CheckResult, ...]:
        return self.report.grader_faults if self.report else ()

    def lesson(self, lesson_id: str) -> LessonResult | None:
        found = [one for one in self.report.lessons if one.id == lesson_id] if self.report else []
        return found[0] if found else None

    def lesson_score(self, lesson_id: str) -> float:
        result = self.lesson(lesson_id)
        changed = sum(one.points for one in self.adjustments if one.lesson == lesson_id)
        earned = result.score if result else 0.0
        return max(0.0, round(earned - self._lost(earned) + changed, 4))


@dataclass(frozen=True, slots=True)
class LessonColumn:
    """A lesson's columns: its points, and a column for each check."""

    id: str
    title: str
    max_score: float
    max_bonus: float
    checks: tuple[CheckColumn, ...]


@dataclass(frozen=True, slots=True)
class CheckColumn:
    """A check's column: what it is worth, and whether it is a bonus or hidden."""

    id: str
    title: str
    max_points: float
    bonus: bool
    hidden: bool


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A submission's score before and after a run; changed checks as (id, old, new)."""

    name: str
    old: float
    new: float
    checks: tuple[tuple[str, str | None, str | None], ...]


@dataclass(frozen=True, slots=True)
class CommonMistake:
    """A mistake that the class made: its lesson, and the number of submissions that have it."""

    lesson: str
    id: str
    title: str
    count: int
