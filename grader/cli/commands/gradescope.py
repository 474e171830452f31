"""Run ``grade gradescope``: make the zip for Gradescope, and say what to do with it."""

from __future__ import annotations

from pathlib import Path

from grader.classroom.publish.gradescope import make_zip
from grader.core.i18n import wanted_language
from grader.core.text import counted
from grader.course.course import Course


def make_autograder(
    course: Course,
    names: tuple[str, ...],
    target: Path,
    *,
    hidden_checks: str,
    lang: str | None,
    accept_near_names: bool,
) -> None:
    lessons = [course.lesson(name) for name in names] or list(course.lessons)
    make_zip(
        course,
        lessons,
        target,
        hidden_checks=hidden_checks,
        lang=wanted_language(lang),
        accept_near_names=accept_near_names,
    )
    count = counted(len(lessons), "lesson")
    print(
        f"{target} grades {count}. In Gradescope: Configure Autograder, upload it, choose an Ubuntu"
        " image (24.04 or later is quickest)."
    )
    print(
        "It contains the solutions: do not give it to students. Each result says which guarantees"
        " of the sandbox hold in Gradescope's container."
    )
    if hidden_checks != "visible":
        print(f"Hidden checks are {hidden_checks}: students see no total while one is hidden.")
