"""A learner's status in each lesson, the next lesson, and the totals.

Nothing is locked: a lesson that builds on others can be graded at any time.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from grader.core.report import FULL_LESSON, add_up
from grader.course.course import Course, Lesson
from grader.course.progress import Progress


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
