"""Choose what to reteach: the most common mistakes of a class, and checks that many got wrong."""

from __future__ import annotations

from dataclasses import dataclass

from grader.classroom.statistics.records import (
    CheckFacts,
    Classroom,
    LessonFacts,
    MistakeCount,
    People,
)

FEWEST_TO_RETEACH = 2
"""A mistake of only one person is for that person's page, not for the class."""
RETEACH = 3
"""How many things to reteach the first screen names: as many as fit into one lesson."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Something to reteach: a mistake, or a check that many got wrong.

    ``of`` is how many began the lesson or the check; ``link`` leads to the ``people``.
    """

    title: str
    lesson: LessonFacts
    people: People
    of: int
    check: str
    evidence: str
    link: str
    named: bool


def topics(classroom: Classroom) -> tuple[Topic, ...]:
    """Return what to reteach: the most common mistakes, then checks that many got wrong without a
    name.

    Checks that may themselves be wrong are left out.
    """
    lessons = {lesson.id: lesson for lesson in classroom.lessons}
    named = [
        _of_mistake(mistake, lessons[mistake.lesson])
        for mistake in classroom.mistakes[:RETEACH]
        if mistake.people.count >= FEWEST_TO_RETEACH
    ]
    unnamed = [
        check
        for lesson in classroom.lessons
        for check in lesson.checks
        if check.wrong.count >= FEWEST_TO_RETEACH and not check.doubt
    ]
    unnamed.sort(key=lambda check: (-check.wrong.count, check.number))
    return tuple(
        named
        + [_of_check(check, lessons[check.lesson]) for check in unnamed[: RETEACH - len(named)]]
    )


def _of_mistake(mistake: MistakeCount, lesson: LessonFacts) -> Topic:
    link = f"#made-{mistake.number}"
    return Topic(
        mistake.title,
        lesson,
        mistake.people,
        lesson.began,
        mistake.check,
        mistake.evidence,
        link,
        named=True,
    )


def _of_check(check: CheckFacts, lesson: LessonFacts) -> Topic:
    link = f"#wrong-{check.number}"
    return Topic(
        check.column.title,
        lesson,
        check.wrong,
        check.began,
        check.column.title,
        check.example,
        link,
        named=False,
    )
