"""Comments of a person on a submission, a lesson, or a line of its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.batch import changing
from grader.classroom.gradebook.entry import Comment
from grader.classroom.gradebook.roster import csv_rows
from grader.classroom.gradebook.store import Gradebook
from grader.cli.commands.author_name import login_name
from grader.cli.commands.plain_table import plain_table
from grader.core.errors import UsageError
from grader.core.text import clean, counted, now
from grader.course.submission import writable
from grader.render.terminal import make_console

COLUMNS = ("name", "lesson", "line", "comment")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A comment to be made; an error about it begins with ``where``."""

    name: str
    lesson: str | None
    line: int | None
    text: str
    where: str = ""


def comment(out: Path, target: str, text: str, *, author: str | None) -> None:
    """Make one comment. ``target`` is ``NAME``, ``NAME:LESSON`` or ``NAME:LESSON:LINE``."""
    make(out, [read_target(target, text)], author)


def comment_from(out: Path, file: Path, *, author: str | None) -> None:
    """Make the comments of a CSV file, all or none; existing ones are not repeated."""
    make(out, list(read_file(file)), author)


def withdraw(out: Path, name: str, number: int) -> None:
    with changing(out) as (book, changed):
        entry = book.entry_of(name)
        book.withdraw(entry.name, number)
        changed.add(entry.name)
    make_console().print(f"comment {number} is withdrawn", markup=False)
    show(out, entry.name)


def show(out: Path, name: str) -> None:
    with Gradebook.open(out) as book:
        entry = book.entry_of(name)
    console = make_console()
    if not entry.comments:
        console.print(f"{clean(entry.name)}: no comments", markup=False)
        return
    table = plain_table("number", "who", "lesson", "line", "comment")
    for one in entry.comments:
        line = str(one.line or "")
        table.add_row(str(one.number), clean(one.author), one.lesson or "", line, clean(one.text))
    console.print(table)


def make(out: Path, wanted: list[Wanted], author: str | None) -> None:
    """Make comments, after checking that all of them are possible; raise UsageError."""
    with changing(out) as (book, changed):
        made = [checked(book, one, author) for one in wanted]
        new = [name for name, one in made if book.comment(name, one)]
        changed.update(new)
    there = len(made) - len(new)
    message = f"{counted(len(new), 'comment')} on {counted(len(set(new)), 'submission')}"
    make_console().print(message + (f"; {there} already existed" if there else ""), markup=False)


def checked(book: Gradebook, one: Wanted, author: str | None) -> tuple[str, Comment]:
    """Return the submission's name, and the comment with the line it is about; raise UsageError if
    there is no such submission or line.
    """
    try:
        name = book.entry_of(one.name).name
    except UsageError as error:
        raise UsageError(f"{one.where}{error}") from None
    lessons = [lesson for lesson, _, _ in book.lessons()]
    if not one.text.strip():
        raise UsageError(f"{one.where}The comment is empty. Give it a text")
    if one.lesson is not None and one.lesson not in lessons:
        raise UsageError(
            f"{one.where}The gradebook has no lesson {one.lesson!r}. Its lessons:"
            f" {', '.join(lessons)}"
        )
    code = ""
    if one.line is not None:
        text = book.graded_text(name, one.lesson or "")
        lines = (text or "").split("\n")
        if not 1 <= one.line <= len(lines) or text is None:
            raise UsageError(
                f"{one.where}{name} has no line {one.line} in {one.lesson}:"
                f" {'it has no such file' if text is None else f'the file has {len(lines)} lines'}"
            )
        code = lines[one.line - 1].strip()
    made = Comment(
        0, writable(one.text.strip()), author or login_name(), now(), one.lesson, one.line, code
    )
    return name, made


def read_target(target: str, text: str) -> Wanted:
    name, *rest = target.split(":")
    if len(rest) > 2 or (len(rest) == 2 and not rest[1].isdecimal()):
        raise UsageError(
            f"{target!r} is not NAME, NAME:LESSON or NAME:LESSON:LINE, such as alice:hooks:12"
        )
    return Wanted(name, rest[0] if rest else None, int(rest[1]) if len(rest) == 2 else None, text)


def read_file(file: Path) -> Iterator[Wanted]:
    """Yield the comments of a CSV file; raise UsageError with file and line."""
    rows = csv_rows(file)
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if "name" not in header or "comment" not in header:
        raise UsageError(
            f"{file}:1: the first line must name the columns {', '.join(COLUMNS)}. lesson and line"
            " may be left out"
        )
    for number, cells in rows[1:]:
        row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
        line = row.get("line") or ""
        where = f"{file}:{number}: "
        if (line and not line.isdecimal()) or (line and not row.get("lesson")):
            raise UsageError(
                f"{where}the column line has {line!r}. Write a number there, and a lesson beside it"
            )
        yield Wanted(
            row.get("name", ""),
            row.get("lesson") or None,
            int(line) if line else None,
            row.get("comment", ""),
            where,
        )
