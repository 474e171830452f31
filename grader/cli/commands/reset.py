"""Give a lesson a fresh stub, and keep a copy of the old file."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.text import Text

from grader.cli.commands.workspace import Learner, fresh
from grader.core.errors import UsageError
from grader.course.course import Lesson
from grader.render.terminal import make_console


def reset_lessons(learner: Learner, lessons: list[Lesson], *, sure: bool) -> None:
    """Replace lessons by fresh stubs after asking; keep copies of the old files."""
    console, files = make_console(), learner.files(*lessons)
    for lesson in lessons:
        found = files.get(lesson.id)
        if found is not None and (found.ignored or not (learner.folder / found.path).is_file()):
            raise UsageError(found.template or found.problem or found.path, **found.facts)
        target = learner.folder / (found.path if found else f"{lesson.id}/{lesson.filename}")
        beginning = fresh(lesson, target, learner.tr)
        if found is not None and found.problem is None and same_text(target, beginning):
            console.print(Text(learner.tr("{file} is a fresh stub already.", file=found.path)))
            continue
        if (
            found is not None
            and not sure
            and not agreed(
                learner.tr("Begin {file} again? A copy is kept", file=found.path), lesson
            )
        ):
            console.print(Text(learner.tr("Nothing was changed.")))
            continue
        try:
            copy = set_aside(target) if found else None
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)  # the link is replaced; its target stays
            target.write_text(beginning, "utf-8", newline="\n")
        except OSError as error:
            why = {"file": error.filename, "reason": error.strerror}
            raise UsageError(
                learner.tr("{file} can't be written: {reason}. Nothing of yours was lost", **why)
            ) from None
        path = target.relative_to(learner.folder)
        message = learner.tr("{file} is a fresh stub.", file=path.as_posix())
        if copy:
            kept = path.with_name(copy.name).as_posix()
            message += " " + learner.tr("What you had is in {file}", file=kept)
        console.print(Text(message))


def same_text(path: Path, text: str) -> bool:
    try:
        return path.read_text("utf-8") == text
    except (OSError, ValueError):
        return False


def agreed(question: str, lesson: Lesson) -> bool:
    """Ask a question; raise UsageError if nobody can answer, as in a notebook."""
    try:
        return click.confirm(question)
    except click.Abort:
        if sys.stdin is not None and sys.stdin.isatty():
            raise
        click.echo()
        message = (
            "Nobody can answer here, so nothing was changed. To begin it again without a question:"
            " {command}"
        )
        raise UsageError(message, command=f"grade reset {lesson.id} --yes") from None


def set_aside(path: Path) -> Path:
    """Copy a file to the first free of ``<name>.1``, ``<name>.2``, …"""
    number = 1
    while (copy := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    copy.write_bytes(path.read_bytes())
    return copy
