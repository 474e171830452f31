"""Copies of one answer get one mark: neither a comment nor the answers graded before matter."""

from __future__ import annotations

import pytest
from graded import Grade

from grader.core.report import LessonResult
from grader.course.course import find_course, load_course
from grader.verify.verify import cases_of

COURSE = load_course(find_course())
COPIES = 3
UNNAMED = {"naming_off": ("rule", "engine", "example"), "limits": COURSE.limits}
"""Names take longer than marks."""


def verdict(result: LessonResult) -> list[tuple[object, ...]]:
    return [(one.id, one.outcome, one.points) for one in result.checks]


@pytest.mark.parametrize(
    ("name", "every"),
    [
        pytest.param("custom_sigmoid", 100, id="custom_sigmoid"),
        *(
            pytest.param(one.id, 1, marks=pytest.mark.proof, id=f"all of {one.id}")
            for one in COURSE.lessons
        ),
    ],
)
def test_copies_of_an_answer_get_one_mark(name: str, every: int, grade_text: Grade) -> None:
    lesson = COURSE.lesson(name)
    unequal = []
    for case in cases_of(lesson)[::every]:
        texts = (f"# Copy {number}.\n{case.source}" for number in range(COPIES))
        first, *others = (verdict(grade_text(lesson, one, **UNNAMED)) for one in texts)
        if any(one != first for one in others):
            unequal.append(f"{case.kind} {case.name}")
    assert unequal == []
