"""Run ``grade give``: give a file of the download, which was not graded, to its owner."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from pathlib import Path

import click

from grader.classroom.batch import REVEALED
from grader.classroom.gradebook import by_hand
from grader.classroom.gradebook.entry import total_points
from grader.classroom.gradebook.people import enrol
from grader.classroom.gradebook.store import Gradebook, batch_lock
from grader.classroom.imports.discover import find_class
from grader.classroom.imports.entries import is_zip
from grader.classroom.imports.given_files import files_meant, named_after
from grader.classroom.imports.names import name_list
from grader.cli.batch import BatchOptions, grade_class, remembered_course
from grader.cli.batch_screen import mark_text
from grader.cli.gradebook import login_name, say, to_undo, undo_change
from grader.cli.options import PATH, course_option
from grader.core.errors import SubmissionError, UsageError
from grader.course.course import Course
from grader.course.files import FileEntry
from grader.course.near_names import OTHER_ARCHIVES, meant_name
from grader.course.submission import lesson_names, read_entry
from grader.runtime.text_reader import text_reader


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
    asked = BatchOptions(out, out, sandbox=sandbox, course_root=course_root)
    named = remembered_course(asked)
    owner, wanted = give_file(named, asked, file, person, lesson)
    code = grade_class(named, wanted, only=owner)
    with Gradebook.open(out) as book:
        mark = mark_text(total_points(book.entry(owner)))
    say(f"{file} given to {owner}, whose mark is {mark}. {to_undo('give', out, owner)}")
    sys.exit(code)


def give_file(
    course: Course, asked: BatchOptions, file: str, person: str, lesson: str | None
) -> tuple[str, BatchOptions]:
    """Note whose a file is; return the owner's line, and the options with how the class was graded.

    Raise UsageError if there is no such file or person, or if the lesson is not known.
    """
    with batch_lock(asked.out), Gradebook.open(asked.out) as book:
        owner = book.entry_of(person).name
        wanted = replace(
            asked,
            place=Path(book.about("place")),
            layout=book.about("layout"),
            lang=book.about("lang"),
            reveal=book.about("pages").startswith(REVEALED),
        )
        entry = file_of(book, wanted.place, file)
        assigned = [one for one, _, _ in book.lessons()]
        lesson = lesson or lesson_of(entry.name, assigned)
        if lesson not in assigned:
            raise UsageError(
                f"{file}: name the lesson with --lesson. The assignment has {', '.join(assigned)}"
            )
        refuse_unreadable(entry, lesson)
        given = any((one.owner, one.lesson) == (owner, lesson) for one in by_hand.gifts(book))
        if not given and (own := own_file(course, book, wanted, owner, lesson)) is not None:
            raise UsageError(
                f"{owner} has handed in a file for {lesson}, and what is given replaces none."
                f" Remove or rename {own} in {wanted.place}, then give this one. If two"
                " students have each other's files: grade swap"
            )
        by_hand.give(book, entry.path, lesson, owner, login_name())
        return owner, wanted


def file_of(book: Gradebook, place: Path, path: str) -> FileEntry:
    """Return the file of a download that a path means; raise UsageError unless there is one."""
    submissions = {
        one.name: {one.name, *(value for who in one.students for value in who.ids.values())}
        | {attempt.came_as for attempt in one.attempts} - {""}
        for one in book.entries()
    }
    found = files_meant(place, path, submissions)
    if not found:
        raise UsageError(
            f"{path} is not in {place}. Write the path as grade batch shows it, such as"
            " alice/hooks.txt"
        )
    if len(found) > 1:
        raise UsageError(f"{path} may be {name_list([one.path for one in found], 4)}. Name one")
    return found[0]


def refuse_unreadable(entry: FileEntry, lesson: str) -> None:
    """Raise UsageError if no text can be read from a file, because it would be graded as 0."""
    if is_zip(entry.name) or OTHER_ARCHIVES.search(entry.name):
        raise UsageError(
            f"{entry.path} is an archive, so it was not given. Unpack it in the download, and give"
            " the file that was in it"
        )
    named = named_after(lesson, entry)
    problem = read_entry(lesson, named, named.name, text_reader().decode).problem
    if problem is not None:
        raise UsageError(f"{problem}. It was not given. Ask for a file that can be read")


def own_file(
    course: Course, book: Gradebook, wanted: BatchOptions, owner: str, lesson: str
) -> str | None:
    """Return the path of a lesson's file that somebody has in the download now; None if there is
    none that is graded.
    """
    found = find_class(
        wanted.place,
        lessons=[one.id for one in course.lessons],
        graded=[one for one, _, _ in book.lessons()],
        layout=wanted.layout,
        accept_near_names=bool(int(book.about("near_names"))),
        decode=text_reader().decode,
    )
    for one in enrol(book, found, None).found.handed:
        if one.name == owner:
            with contextlib.suppress(SubmissionError):
                file = one.read([lesson]).get(lesson)
                return file.path if file and not file.problem and not file.ignored else None
    return None


def lesson_of(name: str, assigned: list[str]) -> str | None:
    """Return the lesson that a file's name means; the only one if there is one."""
    names = lesson_names(assigned)
    meant = name if name in names else meant_name(name, names)
    if meant is not None:
        return names[meant]
    return assigned[0] if len(assigned) == 1 else None
