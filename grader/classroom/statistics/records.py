"""Statistics of a class, which ``collect`` fills while it reads the gradebook."""

from __future__ import annotations

import enum
import statistics
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from grader.classroom.gradebook.records import Adjustment, CheckColumn
from grader.classroom.statistics.item_analysis import (
    Bin,
    Moments,
    doubt,
    histogram,
    point_biserial,
    share,
)
from grader.core.report import CheckResult, LessonStatus, Outcome, Record

JUDGED = (Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.TIMEOUT, Outcome.CRASHED)
"""Outcomes of a check that was run and has a verdict."""
NAMED = 8
"""How many names are shown beside a mistake."""


class State(enum.StrEnum):
    """A state by which the table of submissions can be filtered."""

    FAULT = "fault"
    PROBLEM = "problem"
    MISSING = "missing"
    INVALID = "invalid"
    LIMIT = "limit"
    FLAG = "flag"
    ADJUSTED = "adjusted"
    LATE = "late"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class StudentSummary:
    """A submission's owner: the unique name, the label, whether there is a report to open."""

    name: str
    label: str
    has_report: bool


@dataclass(slots=True)
class People:
    """The number of people of whom something is true, and the first ``NAMED`` of them."""

    count: int = 0
    first: list[StudentSummary] = field(default_factory=list)
    last: StudentSummary | None = None

    def add(self, person: StudentSummary) -> None:
        """Count a person, but not twice in a row."""
        if person is not self.last:
            self.count += 1
            self.last = person
            self.first += [person] * (self.count <= NAMED)


@dataclass(frozen=True, slots=True)
class Row(Record):
    """A line of the table of submissions.

    ``lessons`` are shares of each lesson's points, in the columns' order, None where it was not
    handed in; ``history`` has what each version earned; ``mistakes`` and ``wrong`` are the numbers
    of mistakes made and of checks not passed.
    """

    person: StudentSummary
    score: float | None
    """None if a part was not graded, as in grades.csv."""
    max_score: float
    bonus: float
    penalty: float
    adjusted_by: float
    history: tuple[float, ...]
    section: str
    lessons: tuple[float | None, ...]
    points: tuple[float | None, ...]
    states: tuple[State, ...]
    mistakes: tuple[int, ...]
    wrong: tuple[int, ...]


class Rows(Protocol):
    """Rows in the order of arrival, which can be read several times; a list is one."""

    def append(self, row: Row, /) -> None: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Row]: ...


@dataclass(frozen=True, slots=True)
class ClassNote:
    """A note on a submission: whose, where, what; ``more`` is for the course's author."""

    person: StudentSummary
    where: str
    text: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Changed:
    """An adjustment, and whose points it changed."""

    person: StudentSummary
    adjustment: Adjustment


@dataclass(slots=True)
class CheckFacts:
    """One check over the class: outcomes, and moments of the scores on everything else.

    ``wrong`` are the people who failed it without a known mistake; ``example`` is the message that
    one of them got.
    """

    number: int
    lesson: str
    column: CheckColumn
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    right: Moments = field(default_factory=Moments)
    not_right: Moments = field(default_factory=Moments)
    wrong: People = field(default_factory=People)
    example: str = ""

    def add(self, person: StudentSummary, result: CheckResult, rest: float) -> None:
        """Count a result; ``rest`` is the person's score without this check's points."""
        self.outcomes[result.outcome] += 1
        if result.outcome is Outcome.PASSED:
            self.right.add(rest)
        elif result.outcome in JUDGED:
            self.not_right.add(rest)
            if not result.diagnosis:
                self.wrong.add(person)
                self.example = self.example or result.message or ""

    @property
    def discrimination(self) -> float | None:
        """How well it tells strong from weak submissions (``point_biserial``)."""
        return point_biserial(self.right, self.not_right)

    @property
    def passed(self) -> int:
        return self.outcomes.get(Outcome.PASSED, 0)

    @property
    def began(self) -> int:
        return self.judged + self.outcomes.get(Outcome.SKIPPED, 0)

    @property
    def judged(self) -> int:
        return sum(self.outcomes.get(outcome, 0) for outcome in JUDGED)

    @property
    def passed_share(self) -> float | None:
        return share(self.passed, self.began)

    @property
    def difficulty(self) -> float | None:
        """The share of those for whom it was run who got it wrong: 0 nobody, 1 everybody."""
        return share(self.judged - self.passed, self.judged)

    @property
    def doubt(self) -> str | None:
        """The reason why the check itself may be wrong, if there is one."""
        return doubt(self.judged, self.passed, self.discrimination)


@dataclass(slots=True)
class MistakeCount:
    """How often a mistake was made; ``evidence`` is an example from ``check``."""

    number: int
    id: str
    lesson: str
    title: str
    check: str
    evidence: str
    people: People = field(default_factory=People)


@dataclass(slots=True)
class UnnamedGroup:
    """Unnamed wrong answers that fail alike: who gave them, and what one of them did. ``signature``
    is what ``grade name`` calls the group.
    """

    signature: str
    lesson: str
    function: str
    example: CheckResult
    people: People = field(default_factory=People)
    code: str = ""

    @property
    def first(self) -> StudentSummary:
        return self.people.first[0]


@dataclass(frozen=True, slots=True)
class Together:
    """Two mistakes that the same people made.

    ``both`` is their number, ``share`` the share of these among all who made either mistake.
    """

    one: MistakeCount
    other: MistakeCount
    both: int
    share: float


@dataclass(slots=True)
class LessonFacts:
    """One lesson's statistics: statuses, scores, times, checks, and mistakes by frequency."""

    id: str
    title: str
    max_score: float
    statuses: Counter[LessonStatus] = field(default_factory=Counter)
    scores: array[float] = field(default_factory=lambda: array("d"))
    seconds: array[float] = field(default_factory=lambda: array("d"))
    by_id: dict[str, CheckFacts] = field(default_factory=dict)
    mistakes: list[MistakeCount] = field(default_factory=list)

    @property
    def checks(self) -> tuple[CheckFacts, ...]:
        return tuple(self.by_id.values())

    @property
    def bins(self) -> tuple[Bin, ...]:
        return histogram(self.scores, self.max_score)

    @property
    def median_seconds(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def longest_seconds(self) -> float | None:
        return max(self.seconds, default=None)

    @property
    def began(self) -> int:
        return self.statuses.get(LessonStatus.PASSED, 0) + self.statuses.get(LessonStatus.FAILED, 0)

    @property
    def complete_share(self) -> float | None:
        return share(self.statuses.get(LessonStatus.PASSED, 0), self.began)


@dataclass(slots=True)
class Classroom:
    """A class. ``scores`` has only those of submissions that were judged completely."""

    rows: Rows
    courses: dict[str, None] = field(default_factory=dict)
    max_score: float = 0.0
    scores: array[float] = field(default_factory=lambda: array("d"))
    bins: tuple[Bin, ...] = ()
    lessons: list[LessonFacts] = field(default_factory=list)
    mistakes: list[MistakeCount] = field(default_factory=list)
    together: list[Together] = field(default_factory=list)
    groups: list[UnnamedGroup] = field(default_factory=list)
    faults: list[ClassNote] = field(default_factory=list)
    problems: list[ClassNote] = field(default_factory=list)
    missing: list[StudentSummary] = field(default_factory=list)
    limits: list[ClassNote] = field(default_factory=list)
    flags: list[ClassNote] = field(default_factory=list)
    adjustments: list[Changed] = field(default_factory=list)
    sections: dict[str, array[float]] = field(default_factory=dict)
    """The scores by section, as in ``scores``."""
    again: tuple[Moments, Moments] = field(default_factory=lambda: (Moments(), Moments()))
    """The points of the first and the last version, of those who handed in more than one."""
    unconfined: int = 0
    """How many were judged without at least one of the sandbox's guarantees."""

    @property
    def doubtful(self) -> tuple[CheckFacts, ...]:
        return tuple(check for lesson in self.lessons for check in lesson.checks if check.doubt)
