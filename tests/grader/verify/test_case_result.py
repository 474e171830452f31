"""No check of the course calls a wrong answer right because it writes into its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from grader.core.messages import Settings
from grader.course.course import Lesson, find_course, load_course
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson
from grader.verify.case_result import (
    DERIVATIVES,
    VALUES,
    Case,
    CaseResult,
    finding_of,
    spoiler_pairs,
    spoiler_problems,
)

LESSONS = load_course(find_course()).lessons
SETTINGS = Settings(1, naming_off=("rule", "engine", "example"))
QUICK = (*VALUES, ("nan", 2))
"""What takes little time: wrong values leave few checks to run, and few lessons differentiate."""


def graded(host: ForkServerClient, case: Case) -> Mapping[int, CaseResult]:
    file = LessonFile(case.lesson.id, case.lesson.filename, case.source)
    outcome = grade_lesson(host, case.lesson, file, SETTINGS)
    return {SETTINGS.seed: finding_of(case, outcome)}


def problems(
    host: ForkServerClient, lesson: Lesson, variants: Iterable[tuple[str, int]]
) -> list[str]:
    """Grade answers that write, and the same without the write if there is something to gain."""
    names = {f"{held}, order {order}" for held, order in variants}
    found: dict[Case, Mapping[int, CaseResult]] = {}
    for plain, written in spoiler_pairs(lesson):
        if plain.name in names and (runs := graded(host, written))[SETTINGS.seed].passed:
            found |= {written: runs, plain: graded(host, plain)}
    return list(spoiler_problems(found))


@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(one, id=one.id, marks=[pytest.mark.proof] if at else [])
        for at, one in enumerate(LESSONS)
    ],
)
def test_no_check_is_passed_by_writing(lesson: Lesson, host: ForkServerClient) -> None:
    """``grade verify``, which CI runs, grades these answers of every lesson."""
    assert problems(host, lesson, QUICK) == []


@pytest.mark.proof
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_no_check_of_a_derivative_is_passed_by_writing(
    lesson: Lesson, host: ForkServerClient
) -> None:
    assert problems(host, lesson, set(DERIVATIVES) - set(QUICK)) == []
