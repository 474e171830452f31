"""The first screen of the class page: who needs help, which check to look at, what to reteach.

A check that may be wrong is named there, with its mistakes, and is nothing to reteach before a
person has looked at it.
"""

from __future__ import annotations

import heapq
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grader.classroom.statistics.collect import (
    CheckFacts,
    ClassNote,
    Classroom,
    LessonFacts,
    Loss,
    MistakeCount,
    People,
    Row,
    State,
    StudentSummary,
)

FEWEST_TO_RETEACH = 2
"""A mistake of only one person is for that person's page, not for the class."""
RETEACH = 3
"""How many things to reteach there are: as many as fit into one lesson."""
HELPED = 5
"""How many people each list names; the table has all of them."""
REASONS = 2
"""How many lessons say with what somebody needs help."""


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """What a teacher reads in two minutes. ``ungraded`` and ``behind`` are who needs help;
    ``doubted`` are the numbers of all checks that may be wrong.
    """

    doubted: Collection[int]
    ungraded: Sequence[ClassNote]
    behind: Sequence[Behind]
    suspects: Sequence[Suspect]
    topics: Sequence[Topic]


def first_screen(room: Classroom) -> FirstScreen:
    doubted = {check.number for lesson in room.lessons for check in lesson.checks if check.doubt}
    return FirstScreen(
        doubted,
        [*room.problems, *room.foreign],
        far_behind(room, doubted),
        suspects(room, doubted),
        topics(room, doubted),
    )


@dataclass(frozen=True, slots=True)
class Behind:
    """Somebody far behind, and in what: lessons below the class's mean, the worst first, and the
    number of lessons that most handed in, but not this person.
    """

    person: StudentSummary
    score: float
    lessons: Sequence[BehindIn]
    not_handed_in: int


@dataclass(frozen=True, slots=True)
class BehindIn:
    """A lesson in which somebody is behind, and one of the mistakes made there."""

    lesson: LessonFacts
    points: float
    mistake: str


def far_behind(room: Classroom, doubted: Collection[int]) -> list[Behind]:
    """Return those with the fewest points of all who are far behind."""
    rows = (row for row in room.rows if State.BEHIND in room.states(row))
    lowest = heapq.nsmallest(HELPED, rows, key=lambda row: row.standing or 0.0)
    return [behind(row, room, doubted) for row in lowest]


def behind(row: Row, room: Classroom, doubted: Collection[int]) -> Behind:
    made = [
        mistake
        for mistake in room.mistakes
        if mistake.number in row.mistakes and not mistake.rests_on(doubted)
    ]
    gaps, absent = [], 0
    for lesson, points in zip(room.lessons, row.points, strict=False):
        if points is None:
            absent += 2 * lesson.began > len(room.scores)
        elif lesson.scores and points < (mean := statistics.fmean(lesson.scores)):
            mistake = next((one.title for one in made if one.lesson == lesson.id), "")
            gaps.append((mean - points, BehindIn(lesson, points, mistake)))
    gaps.sort(key=lambda gap: -gap[0])
    return Behind(row.person, row.score or 0.0, [one for _, one in gaps[:REASONS]], absent)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A check to look at before its mistakes are taught."""

    check: CheckFacts
    lesson: LessonFacts
    mistakes: Sequence[MistakeCount]


def suspects(room: Classroom, doubted: Collection[int]) -> list[Suspect]:
    """Return the checks that may be wrong; those that cost the class the most come first."""
    found = [
        Suspect(
            check,
            lesson,
            [
                mistake
                for mistake in lesson.mistakes
                if mistake.rests_on(doubted)
                and any(check.number in seen for seen in mistake.seen_in)
            ],
        )
        for lesson in room.lessons
        for check in lesson.checks
        if check.number in doubted
    ]
    return sorted(found, key=lambda one: -one.check.loss.points)


@dataclass(frozen=True, slots=True)
class Topic:
    """Something to reteach: a mistake, or a check that many got wrong.

    ``of`` is how many began the lesson or the check. ``check`` is where a mistake was seen, empty
    for a check. ``link`` leads to the ``people``.
    """

    title: str
    lesson: LessonFacts
    people: People
    of: int
    check: str
    evidence: str
    link: str
    loss: Loss


def topics(room: Classroom, doubted: Collection[int]) -> list[Topic]:
    """Return what to reteach: the most common mistakes, then checks that many got wrong without a
    name, but nothing that rests on checks that may themselves be wrong.
    """
    mistakes = (one for one in room.mistakes if not one.rests_on(doubted))
    lessons = {lesson.id: lesson for lesson in room.lessons}
    found = [
        Topic(
            one.title,
            lessons[one.lesson],
            one.people,
            lessons[one.lesson].began,
            one.check,
            one.evidence,
            f"#made-{one.number}",
            one.loss,
        )
        for one in mistakes
        if one.people.count >= FEWEST_TO_RETEACH
    ]
    unnamed = [
        check
        for lesson in room.lessons
        for check in lesson.checks
        if check.wrong.count >= FEWEST_TO_RETEACH and check.number not in doubted
    ]
    unnamed.sort(key=lambda check: (-check.wrong.count, check.number))
    found += [
        Topic(
            check.column.title,
            lessons[check.lesson],
            check.wrong,
            check.began,
            "",
            check.example,
            f"#wrong-{check.number}",
            check.unnamed_loss,
        )
        for check in unnamed
    ]
    return found[:RETEACH]
