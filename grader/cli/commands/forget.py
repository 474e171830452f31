"""Leave a submission out of a gradebook, give it another name, or undo either."""

from __future__ import annotations

from pathlib import Path

from grader.classroom.batch import changing
from grader.classroom.gradebook.store import Gradebook
from grader.classroom.imports.names import unique_names
from grader.cli.commands.author_name import login_name
from grader.cli.commands.plain_table import plain_table
from grader.core.errors import UsageError
from grader.core.text import clean
from grader.render.terminal import make_console


def forget(out: Path, name: str) -> None:
    """Leave a submission out of tables, pages and exports; raise UsageError if there is none."""
    with changing(out) as (book, changed):
        entry = book.entry_of(name)
        book.forget(entry.name, login_name())
        changed.add(entry.name)
    say(f"{entry.name} is forgotten. To undo this: grade forget {out} {entry.name!r} --undo")


def rename(out: Path, old: str, new: str, *, merge: bool = False) -> None:
    """Give a submission's whole history another name.

    Raise UsageError if there is no such submission, if ``new`` can't be its name, or if it is
    another submission's and ``merge`` is False.
    """
    (usable,) = unique_names([(new, "")])
    if usable != new:
        raise UsageError(
            f"{new!r} can't be a submission's name, because its page's file is named after it."
            f" Choose another, such as {usable!r}"
        )
    with changing(out) as (book, changed):
        entry = book.entry_of(old)
        if entry.name == new:
            raise UsageError(f"{new} already has that name")
        if book.is_forgotten(new):
            raise UsageError(
                f"{new} is in the gradebook, but forgotten. Undo that first: grade forget {out}"
                f" {new!r} --undo"
            )
        both = new in book.names()
        if both and not merge:
            raise UsageError(
                f"The gradebook has both {entry.name} and {new}, so nothing was renamed. Choose"
                " another name. If both are of the same student, make them one submission: grade"
                f" rename {out} {entry.name!r} {new!r} --merge"
            )
        book.rename(entry.name, new, login_name())
        changed.update((entry.name, new))
    done = f"{entry.name} is now {'part of ' if both else ''}{new}"
    say(f"{done}. To undo this: grade rename {out} {new!r} --undo")


def undo(out: Path, name: str) -> None:
    """Undo the newest forget or rename of a submission; raise UsageError if there is none."""
    with changing(out) as (book, changed):
        entry = book.undo(name)
        changed.update((name, entry.detail.get("old", name)))
    old = entry.detail.get("old")
    say(f"{name} is {old} again" if old else f"{name} is back")


def list_trail(out: Path) -> None:
    """Show which submissions were forgotten or renamed, and what was undone."""
    with Gradebook.open(out) as book:
        trail = book.trail()
    table = plain_table("when", "who", "what", "")
    for entry in trail:
        what = (
            f"{entry.detail['old']} → {entry.submission}"
            if entry.action == "rename"
            else f"{entry.submission} forgotten"
        )
        table.add_row(
            entry.made_at, clean(entry.author), clean(what), "undone" if entry.undone else ""
        )
    if trail:
        make_console().print(table)
    else:
        say("no submission was forgotten or renamed")


def say(text: str) -> None:
    make_console().print(clean(text), soft_wrap=True, markup=False, highlight=False)
