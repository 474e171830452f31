"""Put one check's new result into an old report."""

from __future__ import annotations

from dataclasses import replace

from grader.core.report import (
    CheckResult,
    LessonResult,
    LessonStatus,
    Report,
    add_up,
    lesson_score,
    lesson_status,
    report_score,
)
from grader.course.course import Course


def lesson_of(check_id: str) -> str:
    return check_id.partition(".")[0]


def lessons_again(course: Course, check_id: str, report: Report | None) -> tuple[str, ...]:
    """Return the lessons to read when one check is graded again: those of the report, so that their
    points stay, and the check's; none without a report.
    """
    if report is None:
        return ()
    kept = {lesson_of(check_id), *(lesson.id for lesson in report.lessons)}
    return tuple(lesson.id for lesson in course.lessons if lesson.id in kept)


def with_check(report: Report, again: Report, check_id: str) -> Report:
    """Return the report with one check's result from another grading of the same files.

    If the file could not be loaded or judged, before or now, replace the whole lesson. If another
    course, engine or torch graded the check, add a flag that says which.
    """
    old = next(lesson for lesson in report.lessons if lesson.id == lesson_of(check_id))
    new = next(lesson for lesson in again.lessons if lesson.id == lesson_of(check_id))
    lessons = tuple(
        _merged(old, new, check_id) if lesson is old else lesson for lesson in report.lessons
    )
    score, max_score, bonus = report_score(lessons)
    flag = (
        f"{check_id} was graded again, by course {again.course.hash}, gradlings"
        f" {again.grader_version} (engine {again.engine_hash}) and torch {again.torch_version}"
    )
    other = _grader(report) != _grader(again)
    flags = (*report.flags, flag) if other and flag not in report.flags else report.flags
    return replace(
        report, lessons=lessons, score=score, max_score=max_score, bonus=bonus, flags=flags
    )


def _grader(report: Report) -> tuple[str, str, str]:
    return report.course.hash, report.engine_hash, report.torch_version


def _merged(old: LessonResult, new: LessonResult, check_id: str) -> LessonResult:
    whole = (LessonStatus.PASSED, LessonStatus.FAILED, LessonStatus.NOT_STARTED)
    found = [check for check in new.checks if check.id == check_id]
    if (
        old.status not in whole
        or new.status not in whole
        or not found
        or any(_is_grader_fault(c, old.id) for c in old.checks)
    ):
        return new
    there = any(check.id == check_id for check in old.checks)
    checks = tuple(found[0] if check.id == check_id else check for check in old.checks) + (
        () if there else tuple(found)
    )
    score, max_score, bonus, max_bonus = lesson_score(checks)
    status = lesson_status(checks, held_checks=old.held_checks)
    most = add_up([max_score, old.held_points])
    return replace(
        old,
        checks=checks,
        status=status,
        score=score,
        max_score=most,
        bonus=bonus,
        max_bonus=max_bonus,
    )


def _is_grader_fault(check: CheckResult, lesson: str) -> bool:
    return check.id == f"{lesson}.grader"
