"""Run ``grade release``: make the students' bundle, and say what it contains."""

from __future__ import annotations

import shlex
from pathlib import Path

from grader.classroom.publish.release import hints_that_answer, released_points, write_release
from grader.course.course import Course

STEPS_SAID = {
    "none": "Hints are left out.",
    "nudge": "The first of the three hints of each function is included; --hints all adds the"
    " others.",
    "all": "All hints are included, even those that nearly give the code.",
}


def make_release(course: Course, names: tuple[str, ...], folder: Path, hints: str) -> None:
    """Make a bundle of those lessons, or of all; print what it holds back."""
    lessons = [course.lesson(name) for name in names] or list(course.lessons)
    released = write_release(course, lessons, folder, hints=hints)
    width = max(len(one.lesson) for one in released)
    for one in released:
        held = f"{one.held.checks} hidden checks, {one.held.points:g} points"
        print(f"{one.lesson.ljust(width)}  {one.checks} checks, {one.points:g} points; {held}")
    print(f"\n{STEPS_SAID[hints]}")
    if hints == "all" and (out := sum(len(hints_that_answer(lesson)) for lesson in lessons)):
        print(f"{out} hints are left out, because each contains a whole part of a solution.")
    points, held_points = released_points(released)
    print(
        f"\n{folder} has {len(released)} lessons. Its checks are worth {points:g} points. The"
        f" hidden checks, {held_points:g} points, run only where you grade."
    )
    print(
        "The reference solutions pass every check in it. It contains no solution and no hidden"
        f" check. Try it:\n\n  cd {shlex.quote(str(folder))}"
    )
    print("  pip install ./engine   # in an environment of its own, as students do")
    print("  grade")
