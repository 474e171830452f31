"""Run ``grade classroom50``: make the folder for Classroom 50, and say what to do with it."""

from __future__ import annotations

import shlex
from pathlib import Path

from grader.classroom.exports.classroom50 import SCALE
from grader.classroom.publish.classroom50 import ENTRY_FILE, RUNTIME_FILE, make_folder
from grader.classroom.publish.classroom50_start import PAGE
from grader.core.i18n import wanted_language
from grader.core.report import FULL_LESSON
from grader.core.text import counted
from grader.course.course import Course

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


def make_autograder(
    course: Course,
    names: tuple[str, ...],
    folder: Path,
    *,
    assignment: str,
    lang: str | None,
    accept_near_names: bool,
    whole_course: bool,
) -> None:
    lessons = [course.lesson(name) for name in names] or list(course.lessons)
    held = make_folder(
        course,
        lessons,
        folder,
        assignment=assignment,
        lang=wanted_language(lang),
        accept_near_names=accept_near_names,
        whole_course=whole_course,
    )
    text = STEPS.format(
        folder=shlex.quote(str(folder)),
        lessons=counted(len(lessons), "lesson"),
        assignment=assignment,
        runtime=shlex.quote(str(folder / RUNTIME_FILE)),
        entry=folder / ENTRY_FILE,
        page=PAGE,
        scale=SCALE,
        full=round(SCALE * FULL_LESSON),
    )
    print(text.rstrip("\n"))
    full = FULL_LESSON * len(lessons)
    print((PUBLISHED if whole_course else VISIBLE.format(held=held, full=full)).rstrip("\n"))
