"""A class with every kind of answer comes to the same grades, whichever system it was downloaded from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from classes import LAYOUTS, write_class
from mixed_class import HOSTILE, mixed_class

from grader.commands.batch import Wanted, grade_class
from grader.course import Course, find_course, load_course
from grader.errors import ExitCode
from grader.host import Host

STUDENTS = int(os.environ.get("GRADLINGS_CLASS", "300"))
"""How large the class of ``make prove`` is."""
LESSONS_EACH = 3


class Kept:
    """The tests' host, which a batch leaves as it is."""

    def __init__(self, host: Host) -> None:
        self.judge = host.judge

    def close(self) -> None:
        pass


def verdicts(out: Path) -> dict[str, Any]:
    """By student: the score, and of each check what it asked, what became of it and what it gave."""
    entries = json.loads((out / "results.json").read_text("utf-8"))
    return {entry["submission"]: (entry["gradebook"]["score"], [checks(lesson) for lesson in entry["lessons"]]) for entry in entries}


def checks(lesson: dict[str, Any]) -> list[Any]:
    named = [[check[key] for key in ("id", "outcome", "points", "diagnosis", "seed")] for check in lesson["checks"]]
    return [lesson["id"], lesson["status"], lesson["score"], *named]


def test_a_class_has_the_same_grades_in_every_layout(tmp_path: Path, host: Host, small_course: Course) -> None:
    students = mixed_class(12, small_course.lessons, seed=4)
    found = {}
    for layout in LAYOUTS:
        place, out = write_class(layout, tmp_path / layout, students), tmp_path / f"{layout}_out"
        wanted = Wanted(place, out, seed=5, sandbox="auto", lang="en")
        assert grade_class(small_course, wanted, make_host=lambda: Kept(host)) is ExitCode.OK  # type: ignore[arg-type, return-value]
        found[layout] = verdicts(out)
    assert set(found["plain"]) == set(students)
    assert {lesson[1] for _, lessons in found["plain"].values() for lesson in lessons} == {"passed", "failed", "not_started", "invalid"}
    assert {layout: grades == found["plain"] for layout, grades in found.items()} == dict.fromkeys(LAYOUTS, True)


@pytest.mark.proof
def test_a_large_class_of_every_lesson_has_the_same_grades_in_every_layout(tmp_path: Path) -> None:
    """Also beside attackers, and no fault of ours is among them."""
    course = load_course(find_course())
    students = mixed_class(STUDENTS, course.lessons, each=LESSONS_EACH, attacks=min(len(HOSTILE), STUDENTS // 10))
    first = None
    for layout in LAYOUTS:
        place, out = write_class(layout, tmp_path / layout, students), tmp_path / f"{layout}_out"
        assert grade_class(course, Wanted(place, out, workers=os.cpu_count() or 1, seed=5, lang="en")) is ExitCode.OK
        found = verdicts(out)
        first = first or found
        assert set(found) == set(students)
        assert {name for name in found if found[name] != first[name]} == set(), layout
