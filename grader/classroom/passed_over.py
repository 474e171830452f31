"""What a submission's report says about files that were not graded."""

from __future__ import annotations

from collections.abc import Iterator

from grader.classroom.imports.names import name_list
from grader.core.report import LessonResult, LessonStatus, Report

NO_NAME = "does not have the name of an assigned lesson"


def passed_over_text(lesson: LessonResult) -> str | None:
    """Return a sentence about files that may be this lesson; None if there are none."""
    if lesson.status is LessonStatus.MISSING:
        return lesson.message if lesson.file or lesson.beside else None
    return lesson.notes[0] if lesson.passed_over else None


def passed_over_files(report: Report, *, all_of_them: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the path of each file that was not graded, below the submission, and the reason.

    Files that may be any lesson are left out if no lesson is missing, unless ``all_of_them`` are
    asked for.
    """
    for lesson in report.lessons:
        missing = lesson.status is LessonStatus.MISSING
        if missing and lesson.file:
            reason = _in_english(report, lesson).removeprefix(lesson.file).strip()
            yield f"{report.submission}/{lesson.file}", reason
        else:
            for path in lesson.passed_over:
                reason = f"was not graded, because {lesson.file} was, as {lesson.id}"
                yield f"{report.submission}/{path}", reason
        for path in lesson.beside if missing or all_of_them else ():
            yield f"{report.submission}/{path}", NO_NAME


def wrong_files(report: Report) -> Iterator[str]:
    """Yield a sentence for each file that has not the name of its lesson, or not its content."""
    for lesson in report.lessons:
        if lesson.status is LessonStatus.MISSING and lesson.file:
            yield _in_english(report, lesson)
        elif lesson.defines_instead is not None:
            others = name_list(lesson.defines_instead, 4) or "nothing"
            yield f"{lesson.file} defines {others} instead of what {lesson.id} asks for"


def _in_english(report: Report, lesson: LessonResult) -> str:
    """Return why a lesson was not graded, as the report's flag has it."""
    mark = f"{lesson.id}: "
    flags = (flag.removeprefix(mark) for flag in report.flags if flag.startswith(mark))
    return next(flags, lesson.message or "")
