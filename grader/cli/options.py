"""What commands share: options, and click's help and errors in the reader's language.

click counts characters, but a wide letter (Hangul) takes two columns. A marker after each wide
letter makes the counts agree; it is removed afterwards.
"""

from __future__ import annotations

import copy
import inspect
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from grader.core.errors import GraderError, UsageError
from grader.core.files import replacing
from grader.core.i18n import Catalogue, engine_catalogue, wanted_language

if TYPE_CHECKING:
    from grader.course.course import Course, Lesson

Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)
PATH = click.Path(path_type=Path)
SEED = click.IntRange(0, 2**32 - 1)
LANG = "grader.lang"
"""The key under which a context keeps the requested language."""


def language_option(what: str) -> Callable[[Command], Command]:
    """Return the option --lang; ``what`` begins its help."""
    help_text = f"{what}: en or ko; by default GRADE_LANG, or your locale's."
    return click.option("--lang", metavar="LANG", help=help_text)


def default_sandbox() -> str:
    """Return ``require`` in continuous integration (the variable CI), else ``auto``."""
    return "auto" if os.environ.get("CI", "").lower() in ("", "0", "false") else "require"


def lessons_option(help_text: str) -> Callable[[Command], Command]:
    """Return the option --lessons; its value is a tuple of names."""
    return click.option("--lessons", metavar="A,B", callback=split_names, help=help_text)


def split_names(_: click.Context, __: click.Parameter, names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())


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
    "--accept-near-names",
    is_flag=True,
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
    """Return the requested course, else the installed one, else this folder's bundle."""
    from grader.course.course import find_course, load_course

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


MARK = "\0"
EXAMPLE = "Example: "
GLOSS = re.compile(r"(\S.*?\s{2,})(\S.*)")
"""A line of help that is a command, then what it does."""
NEEDED = "{command} needs {what}. For help: {command} --help"
UNKNOWN = "{command} has no option {option}. For help: {command} --help"
UNLIKE = "{command} has no option {option}. Did you mean {near}? For help: {command} --help"
VALUELESS = "{command}: {option} needs a value. For help: {command} --help"
FLAG = "{command}: {option} takes no value. For help: {command} --help"
BETWEEN = (
    "{command}: {option} takes a whole number from {low} to {high}. For help: {command} --help"
)
AT_LEAST = "{command}: {option} takes a whole number, {low} or more. For help: {command} --help"
WHOLE = "{command}: {option} takes a whole number. For help: {command} --help"
ONE_OF = "{command}: {option} takes one of {names}. For help: {command} --help"
TOO_MANY = "{command} got too many arguments. For help: {command} --help"


def words_for(context: click.Context) -> Catalogue:
    return engine_catalogue(wanted_language(context.meta.get(LANG)))


def peek_language(args: Sequence[str]) -> str | None:
    """Return the last value of ``--lang`` among unparsed words, as click will; else None."""
    found = None
    for number, word in enumerate(args):
        if word.startswith("--lang="):
            found = word.removeprefix("--lang=")
        elif word == "--lang" and number + 1 < len(args):
            found = args[number + 1]
    return found


class TranslatedCommand(click.Command):
    """A command whose help is in the reader's language."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note the language first, because help and errors need it."""
        ctx.meta[LANG] = peek_language(args)
        return super().parse_args(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        return super().get_help(ctx).replace(MARK, "")

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=marked(words_for(ctx)("Usage: ")))

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self, formatter, words_for(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(self, ctx, formatter, words_for(ctx))


def write_help(command: click.Command, formatter: click.HelpFormatter, tr: Catalogue) -> None:
    text = "\n\n".join(paragraphs(inspect.cleandoc(command.help or ""), tr))
    if text:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(marked(text))


def paragraphs(text: str, tr: Catalogue) -> Iterator[str]:
    """Yield a docstring's paragraphs, translated; commands in them stay as they are."""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("\b\n"):  # click leaves the lines of such paragraphs as they are
            lines = (GLOSS.fullmatch(line) for line in paragraph.split("\n")[1:])
            yield "\n".join(["\b", *(line[1] + tr(line[2]) for line in lines if line)])
        elif paragraph.startswith(EXAMPLE):
            yield tr("Example: {command}", command=paragraph.removeprefix(EXAMPLE))
        else:
            yield tr(" ".join(paragraph.split()))


def write_options(
    command: click.Command, context: click.Context, formatter: click.HelpFormatter, tr: Catalogue
) -> None:
    rows = []
    for option in command.get_params(context):
        translated = copy.copy(option)
        if isinstance(translated, click.Option) and translated.help:
            translated.help = tr(translated.help)
        record = translated.get_help_record(context)
        if record is not None and isinstance(option, click.Option):
            rows.append((record[0], marked(record[1])))
    with formatter.section(marked(tr("Options"))):
        formatter.write_dl(rows)


def marked(text: str) -> str:
    """Return a text in which each wide letter is two characters."""
    return "".join(
        letter + MARK if unicodedata.east_asian_width(letter) in "WF" else letter for letter in text
    )


def misuse(error: click.ClickException, command: click.Command, path: str) -> UsageError | None:
    """Return our message for click's error; None if there is none. ``path`` is the command."""
    if isinstance(error, click.NoSuchOption):
        near = ", ".join(sorted(error.possibilities or ()))
        return UsageError(
            UNLIKE if near else UNKNOWN, command=path, option=error.option_name, near=near
        )
    if isinstance(error, click.BadOptionUsage):
        flags = {
            name for one in command.params if getattr(one, "is_flag", False) for name in one.opts
        }
        return UsageError(
            FLAG if error.option_name in flags else VALUELESS,
            command=path,
            option=error.option_name,
        )
    if isinstance(error, click.MissingParameter) and error.param is not None:
        what = (
            error.param.opts[0]
            if isinstance(error.param, click.Option)
            else error.param.human_readable_name.rstrip(".")
        )
        return UsageError(NEEDED, command=path, what=what)
    if isinstance(error, click.BadParameter) and error.param is not None:
        return wrong_value(path, error.param)
    if type(error) is click.UsageError and error.ctx is not None:
        return UsageError(TOO_MANY, command=path)
    return None


def wrong_value(command: str, parameter: click.Parameter) -> UsageError | None:
    kind, facts = parameter.type, {"command": command, "option": max(parameter.opts, key=len)}
    if isinstance(kind, click.Choice):
        return UsageError(ONE_OF, **facts, names=", ".join(sorted(map(str, kind.choices))))
    if isinstance(kind, click.IntRange) and kind.min is not None:
        low, high = str(kind.min), str(kind.max)
        return UsageError(AT_LEAST if kind.max is None else BETWEEN, **facts, low=low, high=high)
    return UsageError(WHOLE, **facts) if isinstance(kind, type(click.INT)) else None
