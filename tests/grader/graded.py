"""Fixtures that grade one file in the tests' fork server, and the course."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grader.core.messages import Settings
from grader.core.report import CheckResult, LessonResult
from grader.course.course import Course, Lesson, find_course, load_course
from grader.course.stubs import compose, without_markers
from grader.course.submission import decode
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson

Grade = Callable[..., LessonResult]


def by_name(result: LessonResult) -> dict[str, CheckResult]:
    """Return a lesson's checks, by the part of their id after the lesson's."""
    return {check.id.partition(".")[2]: check for check in result.checks}


@pytest.fixture(scope="session")
def course() -> Course:
    return load_course(find_course())


@pytest.fixture(scope="session")
def grade_text(host: ForkServerClient) -> Grade:
    """Return ``grade_text(lesson, text, seed=3, **settings)``, which grades a file of that text."""

    def grade(lesson: Lesson, text: str, seed: int = 3, **settings: Any) -> LessonResult:
        file = decode(lesson.id, lesson.filename, text.encode())
        return grade_lesson(host, lesson, file, Settings(seed, **settings)).result

    return grade


@pytest.fixture(scope="session")
def grade_fragment(grade_text: Grade, course: Course) -> Grade:
    """Return ``grade_fragment(name, fragment, **settings)``, which grades a lesson's solution with
    some of its definitions replaced.
    """

    def grade(name: str, fragment: str, **settings: Any) -> LessonResult:
        lesson = course.lesson(name)
        text = compose(without_markers(lesson.solution.read_text("utf-8")), fragment, name=name)
        return grade_text(lesson, text, **{"limits": course.limits, **settings})

    return grade


@pytest.fixture(scope="session")
def grade_mistake(grade_fragment: Grade, course: Course) -> Grade:
    """Return ``grade_mistake(name, label)``, which grades an answer of a catalogue."""

    def grade(name: str, label: str) -> LessonResult:
        cell = next(cell for cell in course.lesson(name).mistakes if cell.label == label)
        return grade_fragment(name, cell.source, seed=5)

    return grade
