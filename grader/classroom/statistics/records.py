"""What is known of a class when all of its submissions have passed by."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from grader.classroom.gradebook.records import Adjustment, CheckColumn
from grader.classroom.statistics.item_analysis import Bin, share
from grader.core.report import LessonStatus, Outcome

JUDGED = (Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.TIMEOUT, Outcome.CRASHED)
"""Outcomes of a check that was run and has a verdict."""
TOO_FEW_TO_BLAME = 3
"""That one or two people get a check wrong says nothing about the check."""
AGAINST = -3.0
"""Below this many standard errors a check is right more often where the rest is worse, and it is
the check that is to be doubted.

Three, since a course has hundreds of checks: with two, chance alone would accuse some. A
correlation that is none has, in n answers, a standard error of 1 / √(n − 1).
"""


NAMED = 8
"""How many names stand beside a mistake."""


class State(enum.StrEnum):
    """What a line of the gradebook can be looked for by."""

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


@dataclass(frozen=True, slots=True)
class People:
    """How many people something is true of, and the first ``NAMED`` of them."""

    count: int = 0
    first: tuple[StudentSummary, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table of submissions.

    ``lessons`` are shares of each lesson's points, in the columns' order, None where it was not
    handed in; ``mistakes`` and ``wrong`` are the numbers of mistakes made and checks not passed.
    """

    person: StudentSummary
    score: float
    max_score: float
    bonus: float
    adjusted_by: float
    lessons: tuple[float | None, ...]
    points: tuple[float | None, ...]
    states: tuple[State, ...]
    mistakes: tuple[int, ...]
    wrong: tuple[int, ...]


class Rows(Protocol):
    """Rows in the order in which they came, to be read as often as is wanted; a list is one."""

    def append(self, row: Row, /) -> None: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Row]: ...


@dataclass(frozen=True, slots=True)
class ClassNote:
    """Something to look at: whose, where, what; ``more`` is for the grader's author."""

    person: StudentSummary
    where: str
    text: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Changed:
    """An adjustment, and whose points it changed."""

    person: StudentSummary
    adjustment: Adjustment


@dataclass(frozen=True, slots=True)
class CheckFacts:
    """One check over the class: how often each outcome, and how well it tells strong from weak
    (``items.point_biserial``).

    ``wrong`` are those who got it wrong without a mistake that we know; ``example`` is the message
    that one of them got.
    """

    number: int
    lesson: str
    column: CheckColumn
    outcomes: Mapping[Outcome, int]
    discrimination: float | None
    wrong: People = People()
    example: str = ""

    @property
    def passed(self) -> int:
        return self.outcomes.get(Outcome.PASSED, 0)

    @property
    def began(self) -> int:
        """How many began what it is about, those among them whom it still waits for included."""
        return self.judged + self.outcomes.get(Outcome.SKIPPED, 0)

    @property
    def judged(self) -> int:
        """For how many it was run and has a verdict."""
        return sum(self.outcomes.get(outcome, 0) for outcome in JUDGED)

    @property
    def passed_share(self) -> float | None:
        """How many are right of those who began."""
        return share(self.passed, self.began)

    @property
    def difficulty(self) -> float | None:
        """How many got it wrong of those for whom it was run: 0 nobody, 1 everybody."""
        return share(self.judged - self.passed, self.judged)

    @property
    def doubt(self) -> str | None:
        """Why the check itself is to be looked at first, if it is."""
        if self.judged >= TOO_FEW_TO_BLAME and not self.passed:
            return f"nobody of {self.judged} passes it"
        if (
            self.discrimination is not None
            and self.discrimination * math.sqrt(self.judged - 1) < AGAINST
        ):
            return (
                "those with the better scores get it wrong (discrimination"
                f" {self.discrimination:.2f})"
            )
        return None


@dataclass(frozen=True, slots=True)
class MistakeCount:
    """How often a mistake was made; ``evidence`` is an example from the check ``check``."""

    number: int
    id: str
    lesson: str
    title: str
    people: People
    check: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Together:
    """Two mistakes that ``both`` people made, a ``share`` of those who made either."""

    one: MistakeCount
    other: MistakeCount
    both: int
    share: float


@dataclass(frozen=True, slots=True)
class LessonFacts:
    """One lesson's statistics: statuses, scores, times, checks, and mistakes by frequency."""

    id: str
    title: str
    max_score: float
    statuses: Mapping[LessonStatus, int]
    mean: float | None
    median_seconds: float | None
    longest_seconds: float | None
    checks: tuple[CheckFacts, ...]
    mistakes: tuple[MistakeCount, ...]

    @property
    def began(self) -> int:
        """How many wrote something that could be judged."""
        return self.statuses.get(LessonStatus.PASSED, 0) + self.statuses.get(LessonStatus.FAILED, 0)

    @property
    def complete_share(self) -> float | None:
        """How many are complete of those who began."""
        return share(self.statuses.get(LessonStatus.PASSED, 0), self.began)


@dataclass(frozen=True, slots=True)
class Classroom:
    """A class. ``scores`` has only those of submissions that were judged completely."""

    courses: tuple[str, ...]
    max_score: float
    rows: Rows
    scores: tuple[float, ...]
    bins: tuple[Bin, ...]
    lessons: tuple[LessonFacts, ...]
    mistakes: tuple[MistakeCount, ...]
    together: tuple[Together, ...]
    faults: tuple[ClassNote, ...]
    problems: tuple[ClassNote, ...]
    missing: tuple[StudentSummary, ...]
    limits: tuple[ClassNote, ...]
    flags: tuple[ClassNote, ...]
    adjustments: tuple[Changed, ...]
    unconfined: int
    """How many were judged with a guarantee of the sandbox missing."""

    @property
    def doubtful(self) -> tuple[CheckFacts, ...]:
        return tuple(check for lesson in self.lessons for check in lesson.checks if check.doubt)
