"""Collect what a learner's own page shows beside the report."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from rich.console import Console

from grader.cli.commands.selection import are_in_workspace
from grader.cli.commands.workspace import Learner, readme_path, record
from grader.core.report import LessonResult, LessonStatus, Report
from grader.course.course import Course, Lesson
from grader.course.progress import LessonProgress, Progress, course_summary, next_lesson
from grader.course.stubs import without_markers
from grader.course.submission import LessonFile
from grader.render.code import Readme
from grader.render.page import LearnerExtras, LessonHistory
from grader.render.terminal import finish_rows


def keep(
    course: Course,
    report: Report,
    files: Mapping[str, LessonFile],
    place: Path,
    lang: str,
    *,
    console: Console | None = None,
    readmes: bool = True,
) -> LearnerExtras:
    """Return what a page shows beside the report: graded code, earned solutions and the progress.

    READMEs are included except in a notebook, which would grow with every run. In the learner's own
    folder, the report is first recorded in their progress, and ``console`` shows which lessons it
    opened. Work named by --in or a path may be somebody else's, so nothing is recorded.
    """
    learner = (
        Learner.at(course, place, lang)
        if place == Path() and are_in_workspace(place, files)
        else None
    )
    progress = Progress()
    if learner is not None:
        progress = record(learner, report, console) if console else learner.progress
    stories = {
        one.id: replace(
            _story(course.lesson(one.id), one, files.get(one.id), progress.of(one.id)),
            readme=found_readme(learner, course.lesson(one.id)) if learner and readmes else None,
        )
        for one in report.lessons
    }
    reached = course_summary(course, progress)
    finish = finish_rows(reached, learner.tr) if learner and reached.finished else []
    following = next_lesson(course, progress) if learner and learner.keeps else None
    return LearnerExtras(
        datetime.now().astimezone().isoformat(timespec="seconds"),
        stories,
        finish,
        learner.words(following)(following.title) if learner and following else "",
    )


def found_readme(learner: Learner, lesson: Lesson) -> Readme | None:
    """Return a lesson's README in the learner's language, if there is one."""
    path = readme_path(learner, lesson)
    if path is None:
        return None
    with contextlib.suppress(OSError, UnicodeDecodeError):
        lang = learner.tr.lang if path.suffixes[:-1] else "en"
        return Readme(path.read_text("utf-8"), path.parent, lang)
    return None


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
