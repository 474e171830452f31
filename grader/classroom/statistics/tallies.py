"""Counts that are kept while a class is read: of people, checks, mistakes, lessons."""

from __future__ import annotations

import statistics
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.classroom.gradebook.records import CheckColumn
from grader.classroom.statistics.item_analysis import Moments, point_biserial
from grader.classroom.statistics.records import (
    JUDGED,
    NAMED,
    CheckFacts,
    LessonFacts,
    MistakeCount,
    People,
    StudentSummary,
)  # fmt: skip
from grader.core.report import CheckResult, LessonStatus, Outcome


@dataclass(slots=True)
class PeopleTally:
    """How many people, and the first names of them."""

    count: int = 0
    first: list[StudentSummary] = field(default_factory=list)
    last: StudentSummary | None = None

    def add(self, person: StudentSummary) -> None:
        """One more, who is not counted twice in a row."""
        if person is not self.last:
            self.count += 1
            self.last = person
            self.first += [person] * (self.count <= NAMED)

    def facts(self) -> People:
        return People(self.count, tuple(self.first))


@dataclass(slots=True)
class CheckTally:
    """Counts of one check: outcomes, and what tells right from wrong students."""

    number: int
    column: CheckColumn
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    right: Moments = field(default_factory=Moments)
    not_right: Moments = field(default_factory=Moments)
    unnamed: PeopleTally = field(default_factory=PeopleTally)
    example: str = ""

    def add(self, person: StudentSummary, result: CheckResult, rest: float) -> None:
        self.outcomes[result.outcome] += 1
        if result.outcome in JUDGED:
            (self.right if result.outcome is Outcome.PASSED else self.not_right).add(rest)
        if (
            result.outcome in JUDGED
            and result.outcome is not Outcome.PASSED
            and not result.diagnosis
        ):
            self.unnamed.add(person)
            self.example = self.example or result.message or ""

    def facts(self, lesson: str) -> CheckFacts:
        telling = point_biserial(self.right, self.not_right)
        return CheckFacts(
            self.number,
            lesson,
            self.column,
            self.outcomes,
            telling,
            self.unnamed.facts(),
            self.example,
        )


@dataclass(slots=True)
class MistakeTally:
    """One named mistake and the people who made it."""

    number: int
    id: str
    lesson: str
    title: str
    check: str
    evidence: str
    people: PeopleTally = field(default_factory=PeopleTally)

    def facts(self) -> MistakeCount:
        return MistakeCount(
            self.number,
            self.id,
            self.lesson,
            self.title,
            self.people.facts(),
            self.check,
            self.evidence,
        )


@dataclass(slots=True)
class LessonTally:
    """Counts of one lesson: statuses, scores, times and its checks."""

    title: str
    max_score: float
    statuses: Counter[LessonStatus] = field(default_factory=Counter)
    scores: array[float] = field(default_factory=lambda: array("d"))
    seconds: array[float] = field(default_factory=lambda: array("d"))
    checks: dict[str, CheckTally] = field(default_factory=dict)

    def facts(self, lesson_id: str, mistakes: Sequence[MistakeCount]) -> LessonFacts:
        return LessonFacts(
            id=lesson_id,
            title=self.title,
            max_score=self.max_score,
            statuses=self.statuses,
            mean=statistics.fmean(self.scores) if self.scores else None,
            median_seconds=statistics.median(self.seconds) if self.seconds else None,
            longest_seconds=max(self.seconds, default=None),
            checks=tuple(check.facts(lesson_id) for check in self.checks.values()),
            mistakes=tuple(mistake for mistake in mistakes if mistake.lesson == lesson_id),
        )
