"""Options that several commands share, and what follows from them: the course, lessons, files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from grader.core.errors import GraderError, UsageError
from grader.core.files import replacing

if TYPE_CHECKING:
    from grader.course.course import Course, Lesson

Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)
PATH = click.Path(path_type=Path)
SEED = click.IntRange(0, 2**32 - 1)


def language_option(what: str, default: str = "GRADE_LANG") -> Callable[[Command], Command]:
    """Return the option --lang; ``what`` begins its help."""
    help_text = f"{what}: en or ko; by default {default}, or your locale's."
    return click.option("--lang", metavar="LANG", help=help_text)


def default_sandbox() -> str:
    """Return ``require`` in continuous integration (the variable CI), else ``auto``."""
    return "auto" if os.environ.get("CI", "").lower() in ("", "0", "false") else "require"


def lessons_option(help_text: str) -> Callable[[Command], Command]:
    """Return the option --lessons; its value is a tuple of names."""
    return click.option("--lessons", metavar="A,B", callback=split_names, help=help_text)


def split_names(_: click.Context, __: click.Parameter, names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())


lang_option = language_option("The language", "as last here, GRADE_LANG")
pages_lang_option = language_option("The language that students read")
course_option = click.option(
    "--course",
    "course_root",
    type=PATH,
    help="The folder of another course; by default the one that is installed.",
)
place_option = click.option(
    "--in",
    "place",
    type=PATH,
    default=Path(),
    help="The folder with your lessons; this folder by default.",
)
seed_option = click.option(
    "--seed", type=SEED, metavar="N", help="The seed of the random inputs, to repeat a run."
)
sandbox_option = click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    default=default_sandbox,
    help="auto: confine as far as the host allows. require: refuse if a guarantee is missing "
    "(the default in CI). off: don't confine.",
)

which_lessons_option = lessons_option("Which lessons; all by default.")
near_names_option = click.option(
    "--accept-near-names/--no-near-names",
    default=None,
    help="Grade a file such as 'Hooks (1).py' as hooks.py if it is the only such file.",
)
hidden_option = click.option(
    "--hidden-checks",
    type=click.Choice(["visible", "after_published", "after_due_date", "hidden"]),
    default="visible",
    show_default=True,
    help="When Gradescope shows the results of hidden checks; until then students see no total.",
)


def course(root: Path | None) -> Course:
    """Return the requested course, else the installed one, else this folder's bundle.

    Raise UsageError in a work folder that was made for another course.
    """
    from grader.course.course import find_course, load_course
    from grader.course.progress import find_workspace, read_progress

    work = find_workspace(Path()) if root is None else None
    if work is not None and (made_for := read_progress(work).course):
        raise UsageError(MADE_FOR, course=short_path(made_for))
    return load_course(find_course(root, here=Path()))


def chosen_lessons(course: Course, names: Iterable[str]) -> list[Lesson]:
    """Return the named lessons of a course, by default all; raise UsageError for an unknown one."""
    return [course.lesson(name) for name in names] or list(course.lessons)


def complete_lesson(ctx: click.Context, _: click.Parameter | None, incomplete: str) -> list[str]:
    """Complete lesson names for the shell; none if the course can't be read."""
    try:
        names = [lesson.id for lesson in course(ctx.params.get("course_root")).lessons]
    except GraderError:
        return []
    taken = ctx.params.get("lessons") or ()
    return [name for name in names if name.startswith(incomplete) and name not in taken]


def complete_check(
    ctx: click.Context, parameter: click.Parameter | None, incomplete: str
) -> list[str]:
    """Complete ``LESSON.CHECK`` for the shell: lessons and, after a dot, their checks."""
    named, dot, _ = incomplete.partition(".")
    if not dot:
        return complete_lesson(ctx, parameter, incomplete)
    try:
        lesson = course(ctx.params.get("course_root")).lesson(named)
        checks = [f"{lesson.id}.{name}" for name in lesson.check_names]
    except (GraderError, OSError, ValueError):
        return []
    return [check for check in checks if check.startswith(incomplete)]


MADE_FOR = "This work folder was made for another course. Name it: --course {course}"
LONGEST_SHOWN = 200
"""How many characters of a path a message contains."""


def write_file(
    path: Path | None, make: Callable[[], str], *, options: str = "--html, --json"
) -> None:
    """Write a text if a path is given, lone surrogates escaped; raise UsageError."""
    if path is None:
        return
    data = make().encode("utf-8", "backslashreplace")
    try:
        with replacing(path, durable=False) as file:
            file.write(data)
    except OSError as error:
        message = "{path} can't be written: {reason}. Name another place with {options}"
        raise UsageError(
            message, path=short_path(path), reason=str(error.strerror), options=options
        ) from None


def short_path(path: object) -> str:
    """Return a path, truncated at the end if it is too long for a message."""
    text = str(path)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"
