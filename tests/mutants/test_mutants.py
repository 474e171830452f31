"""Every mutant of a reference solution that changes behaviour loses marks; the others are listed,
with the reason.
"""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

import pytest

from grader.course.course import Lesson
from grader.course.manifest import find_course, load_course

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from mutants import mutants_of, survivors  # noqa: E402 - it stands beside this file

COURSE = load_course(find_course())
ARGUED: dict[str, list[dict[str, str]]] = tomllib.loads(
    (HERE / "survivors.toml").read_text("utf-8")
)


@pytest.mark.proof
@pytest.mark.parametrize("lesson", COURSE.lessons, ids=lambda lesson: lesson.id)
def test_the_survivors_are_those_that_are_argued(lesson: Lesson) -> None:
    alive = survivors(COURSE, mutants_of(lesson), seed=1, workers=os.cpu_count() or 1)
    assert {(mutant.before, mutant.after) for mutant in alive} == {
        (one["before"], one["after"]) for one in ARGUED.get(lesson.id, ())
    }


@pytest.mark.parametrize("lesson", COURSE.lessons, ids=lambda lesson: lesson.id)
def test_each_lesson_has_mutants(lesson: Lesson) -> None:
    """At least ten, each another text; and what is argued is among them, with a reason."""
    mutants = mutants_of(lesson)
    assert len({mutant.source for mutant in mutants}) == len(mutants) >= 10
    made = {(mutant.before, mutant.after) for mutant in mutants}
    for one in ARGUED.get(lesson.id, ()):
        assert (one["before"], one["after"]) in made
        assert len(one["why"]) > 20
