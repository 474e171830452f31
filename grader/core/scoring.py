"""Compute points from outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, add_up

FULL_LESSON = 10.0
"""Points that every lesson is worth, bonus apart."""


def points_for(outcome: Outcome, max_points: float) -> float:
    """Return the points for an outcome: all of the check's points, or none."""
    return max_points if outcome is Outcome.PASSED else 0.0


def lesson_score(checks: Sequence[CheckResult]) -> tuple[float, float, float, float]:
    """Return ``(score, max_score, bonus, max_bonus)`` of a lesson's checks."""
    plain = [c for c in checks if not c.bonus]
    bonus = [c for c in checks if c.bonus]
    return (
        add_up(c.points for c in plain),
        add_up(c.max_points for c in plain),
        add_up(c.points for c in bonus),
        add_up(c.max_points for c in bonus),
    )


def lesson_status(checks: Iterable[CheckResult], *, held_checks: int = 0) -> LessonStatus:
    """Return ``passed`` if all but bonus checks passed and none is held back."""
    outcomes = {c.outcome for c in checks if not c.bonus}
    if outcomes <= {Outcome.PASSED} and not held_checks:
        return LessonStatus.PASSED
    if outcomes and outcomes <= {Outcome.NOT_STARTED}:
        return LessonStatus.NOT_STARTED
    return LessonStatus.FAILED


def report_score(lessons: Sequence[LessonResult]) -> tuple[float, float, float]:
    """Return ``(score, max_score, bonus)``, each added up over the lessons."""
    return (
        add_up(lesson.score for lesson in lessons),
        add_up(lesson.max_score for lesson in lessons),
        add_up(lesson.bonus for lesson in lessons),
    )
