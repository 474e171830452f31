"""Run ``grade release``: make the students' bundle, and say what it contains."""

from __future__ import annotations

import shlex
from pathlib import Path

from grader.classroom.publish.release import hints_that_answer, release, released_points
from grader.course.course import Course

STEPS_SAID = {
    "none": "nothing is in it",
    "nudge": "the first step is in it, a question; --hints all adds the others",
    "all": "all steps are in it, also those that nearly are the code",
}


def make_release(course: Course, names: tuple[str, ...], folder: Path, hints: str) -> None:
    """Make a bundle of those lessons, or of all; print what it holds back."""
    lessons = [course.lesson(name) for name in names] or list(course.lessons)
    released = release(course, lessons, folder, hints=hints)
    width = max(len(one.lesson) for one in released)
    for one in released:
        held = f"{one.held.checks} checks, {one.held.points:g} points held back"
        print(f"{one.lesson.ljust(width)}  {one.checks} checks, {one.points:g} points here; {held}")
    print(f"\nOf each hint {STEPS_SAID[hints]}.")
    if hints == "all" and (out := sum(len(hints_that_answer(lesson)) for lesson in lessons)):
        print(f"{out} steps are left out, since each spells out a whole part of a solution.")
    points, held_points = released_points(released)
    print(
        f"\n{folder} holds {len(released)} lessons: {points:g} points can be earned there,"
        f" {held_points:g} are held back."
    )
    print(
        "Every check in it passes on its reference; no solution and no hidden check is in it. Try"
        f" it:\n\n  cd {shlex.quote(str(folder))}"
    )
    print("  pip install ./engine   # in an environment of its own, as students do")
    print("  grade")
