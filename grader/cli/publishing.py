"""The instructor's commands that make files to hand out or to upload, and say what to do with them:
``release``, ``gradescope`` and ``classroom50``.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from grader.classroom.exports.classroom50 import SCALE
from grader.classroom.publish.autograders import (
    ENTRY_FILE,
    RUNTIME_FILE,
    classroom50_folder,
    gradescope_zip,
)
from grader.classroom.publish.classroom50_start import PAGE
from grader.classroom.publish.release import released_points, write_release
from grader.cli.options import (
    PATH,
    chosen_lessons,
    course,
    course_option,
    hidden_option,
    near_names_option,
    pages_lang_option,
    which_lessons_option,
)
from grader.core.i18n import wanted_language
from grader.core.scoring import FULL_LESSON
from grader.core.text import counted
from grader.course.course import hints_that_answer

STEPS_SAID = {
    "none": "Hints are left out.",
    "nudge": "The first of the three hints of each function is included; --hints all adds the"
    " others.",
    "all": "All hints are included, even those that nearly give the code.",
}


@click.command()
@click.argument("folder", type=PATH)
@which_lessons_option
@click.option(
    "--hints",
    type=click.Choice(list(STEPS_SAID)),
    default="nudge",
    show_default=True,
    help="How many of the three hints of each function to hand out: none, the first (nudge), all.",
)
@course_option
def release(folder: Path, lessons: tuple[str, ...], hints: str, course_root: Path | None) -> None:
    """Make the folder to hand out: stubs, visible checks and the engine, without solutions.

    Example: grade release handout --lessons custom_sigmoid,hooks
    """
    found = course(course_root)
    chosen = chosen_lessons(found, lessons)
    released = write_release(found, chosen, folder, hints=hints)
    width = max(len(one.lesson) for one in released)
    for one in released:
        here = f"{counted(one.checks, 'check')}, {counted(one.points, 'point')}"
        held = f"{counted(one.held.checks, 'hidden check')}, {counted(one.held.points, 'point')}"
        print(f"{one.lesson.ljust(width)}  {here}; {held}")
    print(f"\n{STEPS_SAID[hints]}")
    if hints == "all" and (out := sum(len(hints_that_answer(lesson)) for lesson in chosen)):
        print(f"Left out, because each has a whole part of a solution: {counted(out, 'hint')}.")
    points, held_points = released_points(released)
    print(
        f"\n{folder} has {counted(len(released), 'lesson')}. Its checks are worth"
        f" {counted(points, 'point')}. The hidden checks, {counted(held_points, 'point')}, run only"
        " where you grade."
    )
    print(
        "The reference solutions pass every check in it. It contains no solution and no hidden"
        f" check. Try it:\n\n  cd {shlex.quote(str(folder))}"
    )
    print("  pip install ./engine   # in an environment of its own, as students do")
    print("  grade")


@click.command()
@click.argument("file", type=PATH, metavar="OUT.zip")
@which_lessons_option
@hidden_option
@near_names_option
@pages_lang_option
@course_option
def gradescope(
    file: Path,
    lessons: tuple[str, ...],
    hidden_checks: str,
    accept_near_names: bool,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Make the autograder zip that Gradescope takes.

    Example: grade gradescope autograder.zip --lessons custom_sigmoid
    """
    found = course(course_root)
    chosen = chosen_lessons(found, lessons)
    gradescope_zip(
        found,
        chosen,
        file,
        hidden_checks=hidden_checks,
        lang=wanted_language(lang),
        accept_near_names=accept_near_names,
    )
    count = counted(len(chosen), "lesson")
    print(
        f"{file} grades {count}. In Gradescope: Configure Autograder, upload it, choose an Ubuntu"
        " image (24.04 or later is quickest)."
    )
    print(
        "It contains the solutions: do not give it to students. Each result says which guarantees"
        " of the sandbox hold in Gradescope's container."
    )
    if hidden_checks != "visible":
        print(f"Hidden checks are {hidden_checks}: students see no total while one is hidden.")


STEPS = """\
{folder} grades {lessons}. What to do next:

  1. Copy it into your classroom50 repository, commit and push:
     mkdir -p CLASSROOM/autograders/{assignment}
     cp -r {folder}/. CLASSROOM/autograders/{assignment}
  2. Add the assignment with its Python:
     gh teacher assignment add ORG CLASSROOM {assignment} --name "{assignment}" \\
       --runtime {runtime}
  3. Attach {page} to every submission. In the web form, write {page} under
     "Submission release files". Or copy "release_assets" from this file to the assignment
     in CLASSROOM/assignments.json:
     {entry}

One point is {scale} in Classroom 50, because scores are integers there. A lesson is worth
{full} there. Every result says so.
"""
PUBLISHED = """
Classroom 50 publishes this folder on GitHub Pages. It contains the solutions and the hidden
checks, and students can find and read them. Without --with-hidden-checks they are left out.
"""
VISIBLE = """
Classroom 50 publishes this folder on GitHub Pages, so it contains no solution and no hidden check.
{held:g} of {full:g} points are not graded there. Grade those on your computer: gh teacher download,
then grade batch. --with-hidden-checks puts everything into the folder.
"""


@click.command()
@click.argument("folder", type=PATH, metavar="DIR")
@click.option("--assignment", required=True, metavar="NAME", help="The assignment's short name.")
@which_lessons_option
@click.option(
    "--with-hidden-checks",
    "whole_course",
    is_flag=True,
    help="Include solutions and hidden checks, although Classroom 50 publishes the folder.",
)
@near_names_option
@pages_lang_option
@course_option
def classroom50(
    folder: Path,
    assignment: str,
    lessons: tuple[str, ...],
    whole_course: bool,
    accept_near_names: bool,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Make the folder to commit as an autograder in Classroom 50.

    Example: grade classroom50 week-1 --assignment week-1 --lessons hooks
    """
    found = course(course_root)
    chosen = chosen_lessons(found, lessons)
    held = classroom50_folder(
        found,
        chosen,
        folder,
        assignment=assignment,
        lang=wanted_language(lang),
        accept_near_names=accept_near_names,
        whole_course=whole_course,
    )
    text = STEPS.format(
        folder=shlex.quote(str(folder)),
        lessons=counted(len(chosen), "lesson"),
        assignment=assignment,
        runtime=shlex.quote(str(folder / RUNTIME_FILE)),
        entry=folder / ENTRY_FILE,
        page=PAGE,
        scale=SCALE,
        full=round(SCALE * FULL_LESSON),
    )
    print(text.rstrip("\n"))
    full = FULL_LESSON * len(chosen)
    print((PUBLISHED if whole_course else VISIBLE.format(held=held, full=full)).rstrip("\n"))
