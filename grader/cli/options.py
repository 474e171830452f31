"""Options that several commands share, their defaults, and the requested course."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from grader.course.course import Course

Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)
SANDBOX_HELP = (
    "auto: confine as far as the host allows. require: refuse if a guarantee is missing "
    "(the default in CI). off: don't confine."
)
PATH = click.Path(path_type=Path)


def default_sandbox() -> str:
    """Return ``require`` in continuous integration (the variable CI), else ``auto``."""
    return "auto" if os.environ.get("CI", "").lower() in ("", "0", "false") else "require"


LANG = "grader.lang"
"""The key under which a context keeps the requested language."""


def note_language(ctx: click.Context, _: click.Parameter, lang: str | None) -> str | None:
    """Remember the requested language, which errors use too."""
    ctx.meta[LANG] = lang
    return lang


def language_option(what: str) -> Callable[[Command], Command]:
    """Return the option --lang; ``what`` begins its help."""
    help_text = f"{what}: en or ko; by default GRADE_LANG, or your locale's."
    return click.option(
        "--lang", metavar="LANG", is_eager=True, callback=note_language, help=help_text
    )


lang_option = language_option("The language")
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
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    help="The seed of the random inputs, to repeat a run.",
)
sandbox_option = click.option(
    "--sandbox",
    type=click.Choice(["auto", "require", "off"]),
    default=default_sandbox,
    help=SANDBOX_HELP,
)


lessons_option = click.option("--lessons", metavar="A,B", help="Which lessons; all by default.")
near_names_option = click.option(
    "--accept-near-names",
    is_flag=True,
    help="Grade a file such as 'Hooks (1).py' as hooks.py if it is the only such file.",
)
hidden_option = click.option(
    "--hidden-checks",
    type=click.Choice(["visible", "after_published", "after_due_date", "hidden"]),
    default="visible",
    show_default=True,
    help=("When Gradescope shows the results of hidden checks; until then students see no total."),
)


def listed(lessons: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (lessons or "").split(",") if name.strip())


def course(root: Path | None) -> Course:
    """Return the requested course, else the installed one, else this folder's bundle."""
    from grader.course.course import find_course, load_course

    return load_course(find_course(root, here=Path()))


def lesson_names(ctx: click.Context, _: click.Parameter | None, incomplete: str) -> list[str]:
    """Complete lesson names for the shell; none if the course can't be read."""
    from grader.core.errors import GraderError

    try:
        names = [lesson.id for lesson in course(ctx.params.get("course_root")).lessons]
    except GraderError:
        return []
    taken = ctx.params.get("lessons") or ()
    return [name for name in names if name.startswith(incomplete) and name not in taken]


def check_names(
    ctx: click.Context, parameter: click.Parameter | None, incomplete: str
) -> list[str]:
    """Complete ``LESSON.CHECK`` for the shell: lessons and, after a dot, their checks."""
    from grader.core.errors import GraderError

    named, dot, _ = incomplete.partition(".")
    if not dot:
        return lesson_names(ctx, parameter, incomplete)
    try:
        lesson = course(ctx.params.get("course_root")).lesson(named)
        checks = [f"{lesson.id}.{name}" for name in lesson.check_names]
    except (GraderError, OSError, ValueError):
        return []
    return [check for check in checks if check.startswith(incomplete)]
