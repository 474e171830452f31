"""Run ``grade give``: give a file of the download, which was not graded, to its owner."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from grader.classroom.batch import REVEALED
from grader.classroom.gradebook import by_hand
from grader.classroom.gradebook.store import Gradebook, batch_lock
from grader.classroom.imports.gifts import find_file
from grader.cli.batch import BatchOptions, grade_class
from grader.cli.gradebook import login_name, undo_change
from grader.cli.options import PATH, course, course_option
from grader.core.errors import UsageError
from grader.course.course import Course
from grader.course.near_names import meant_name
from grader.course.submission import lesson_names


@click.command()
@click.argument("out", type=PATH)
@click.argument("file", required=False)
@click.argument("person", required=False)
@click.option("--lesson", help="Which lesson it is, if its name doesn't say.")
@click.option("--undo", is_flag=True, help="Take back what was given: give only PERSON.")
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    default="require",
    show_default=True,
    help="How to confine the student's code, as in grade batch.",
)
@course_option
def give(
    out: Path,
    file: str | None,
    person: str | None,
    lesson: str | None,
    undo: bool,
    sandbox: str,
    course_root: Path | None,
) -> None:
    """Give a file of the download to the person whose it is, and grade it.

    FILE is its path, as the messages of grade batch have it. Later runs leave it so.

    Example: grade give "term/Week 2" submissions/20261234_hooks.py Ada
    """
    if undo and file is not None:
        undo_change(out, file, "give")
        return
    if file is None or person is None:
        raise UsageError("Name the file and the person; with --undo, only the person")
    owner, options = give_file(course(course_root), out, file, person, lesson)
    wanted = BatchOptions(out=out, workers=1, sandbox=sandbox, **options)
    sys.exit(grade_class(course(course_root), wanted, only=owner))


def give_file(
    course: Course, out: Path, file: str, person: str, lesson: str | None
) -> tuple[str, dict[str, Any]]:
    """Note whose a file is; return the owner's line, and how the class was graded.

    Raise UsageError if there is no such file or person, or if the lesson is not known.
    """
    with batch_lock(out), Gradebook.open(out) as book:
        owner = book.entry_of(person).name
        place = Path(book.about("place"))
        paths = (file, *in_download(book, file))
        entry = next(filter(None, (find_file(place, path) for path in paths)), None)
        if entry is None:
            raise UsageError(
                f"{file} is not in {place}. Write the path as grade batch shows it, such as"
                " alice/hooks.txt"
            )
        assigned = [one for one, _, _ in book.lessons()]
        lesson = lesson or lesson_of(entry.name, assigned)
        if lesson not in assigned:
            raise UsageError(
                f"{file}: name the lesson with --lesson. The assignment has {', '.join(assigned)}"
            )
        given = any((one.owner, one.lesson) == (owner, lesson) for one in by_hand.gifts(book))
        if book.graded_text(owner, lesson) is not None and not given:
            raise UsageError(
                f"{owner} has handed in a file for {lesson}, and what is given replaces none."
                f" Remove or rename that file in {place}, then give this one. If two students have"
                " each other's files: grade swap"
            )
        by_hand.give(book, entry.path, lesson, owner, login_name())
        options = {
            "place": place,
            "layout": book.about("layout"),
            "lang": book.about("lang"),
            "reveal": book.about("pages").startswith(REVEALED),
        }
        return owner, options


def in_download(book: Gradebook, path: str) -> tuple[str, ...]:
    """Return which paths in the download one may mean that begins with a submission's name, as
    messages write it: in the submission's folder, or, as Canvas has it, in none.
    """
    name, _, rest = path.partition("/")
    if name not in book.names():
        return ()
    return f"{book.entry(name).came_as}/{rest}", rest


def lesson_of(name: str, assigned: list[str]) -> str | None:
    """Return the lesson that a file's name means; the only one if there is one."""
    names = lesson_names(assigned)
    meant = name if name in names else meant_name(name, names)
    if meant is not None:
        return names[meant]
    return assigned[0] if len(assigned) == 1 else None
