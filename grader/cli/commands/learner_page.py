"""What goes into a learner's own page beside the report."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from rich.console import Console

from grader.cli.commands.selection import are_own
from grader.cli.commands.workspace import Learner, record
from grader.core.report import LessonResult, LessonStatus, Report
from grader.course.course import Course, Lesson
from grader.course.lesson_file import LessonFile
from grader.course.progress import LessonProgress, Progress
from grader.course.roadmap import course_summary
from grader.course.stubs import without_markers
from grader.render.learner_page import LearnerExtras, LessonHistory
from grader.render.lesson_table import finish_rows


def keep(
    course: Course,
    report: Report,
    files: Mapping[str, LessonFile],
    place: Path,
    lang: str,
    *,
    console: Console | None = None,
) -> LearnerExtras:
    """Return what a page holds beside the report: graded code, earned solutions, the progress.

    In the learner's own folder the report is kept in their progress first, and ``console`` shows
    what it opened. What --in or a path names may be somebody else's: nothing is kept.
    """
    learner = Learner.at(course, place, lang) if place == Path() and are_own(place, files) else None
    progress = Progress()
    if learner is not None:
        progress = record(learner, report, console) if console else learner.progress
    stories = {
        one.id: _story(course.lesson(one.id), one, files.get(one.id), progress.of(one.id))
        for one in report.lessons
    }
    reached = course_summary(course, progress)
    finish = finish_rows(reached, learner.tr) if learner and reached.finished else []
    return LearnerExtras(datetime.now().astimezone().isoformat(timespec="seconds"), stories, finish)


def _story(
    lesson: Lesson, result: LessonResult, file: LessonFile | None, progress: LessonProgress
) -> LessonHistory:
    earned = (
        result.status is LessonStatus.PASSED or progress.complete or progress.gave_up_at is not None
    )
    solution = (
        without_markers(lesson.solution.read_text("utf-8"))
        if earned and lesson.solution.is_file()
        else None
    )
    return LessonHistory(file.text if file and not file.problem else "", solution, progress)
