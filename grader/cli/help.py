"""Help and errors of click in the reader's language.

click counts characters, but a wide letter (Hangul) takes two columns. A marker after each wide
letter makes the counts agree; it is removed afterwards.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from grader.core.errors import UsageError
from grader.core.i18n import Catalogue, engine_catalogue, languages, wanted_language

LANG = "grader.lang"
"""The key under which a context keeps the requested language."""
MARK = "\0"
EXAMPLE = "Example: "
GLOSS = re.compile(r"(\S.*?\s{2,})(\S.*)")
"""A line of help that is a command, then what it does."""
NEEDED = "{command} needs {what}. For help: {help}"
UNKNOWN = "{command} has no option {option}. For help: {help}"
UNLIKE = "{command} has no option {option}. Did you mean {near}? For help: {help}"
VALUELESS = "{command}: {option} needs a value. For help: {help}"
FLAG = "{command}: {option} takes no value. For help: {help}"
BETWEEN = "{command}: {option} takes a whole number from {low} to {high}. For help: {help}"
AT_LEAST = "{command}: {option} takes a whole number, {low} or more. For help: {help}"
WHOLE = "{command}: {option} takes a whole number. For help: {help}"
ONE_OF = "{command}: {option} takes one of {names}. For help: {help}"
TOO_MANY = "{command} got too many arguments. For help: {help}"


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


def language_here() -> str | None:
    """Return the language that was named last in the work folder around the current folder."""
    from grader.course.progress import find_workspace, read_progress

    work = find_workspace(Path())
    lang = read_progress(work).lang if work else None
    return lang if lang in languages() else None


def keep_language(lang: str) -> None:
    """Let the work folder around the current folder, if there is one, have a language."""
    from grader.course.progress import find_workspace, read_progress, update_progress

    work = find_workspace(Path())
    if work is not None and lang in languages() and lang != read_progress(work).lang:
        with contextlib.suppress(OSError):
            update_progress(work, lambda progress: replace(progress, lang=lang))


class TranslatedCommand(click.Command):
    """A command whose help is in the reader's language."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note the language first, because help and errors need it. One that is named is kept in
        the work folder, so that the commands which are proposed need not name it.
        """
        lang = peek_language(args) or ctx.meta.get(LANG) or language_here()
        ctx.meta[LANG], ctx.default_map = lang, {"lang": lang} if lang else None
        return super().parse_args(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        return super().get_help(ctx).replace(MARK, "")

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = show_help
        return option

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=marked(words_for(ctx)("Usage: ")))

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self, formatter, words_for(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(self, ctx, formatter, words_for(ctx))


def show_help(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Print the help, on a terminal in a pager, and end."""
    if not value or context.resilient_parsing:
        return
    text = context.get_help()
    if sys.stdout.isatty():
        from rich.text import Text

        from grader.render.terminal import make_console, paged

        console = make_console()
        with paged(console, words_for(context)):
            console.print(Text(text))
    else:
        click.echo(text)
    context.exit()


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


def misuse(
    error: click.ClickException, command: click.Command, path: str, whole: str | None = None
) -> UsageError | None:
    """Return our message for click's error; None if there is none. ``path`` is the command as it
    was typed, ``whole`` its name in full, whose help explains it.
    """
    facts = {"command": path, "help": f"{whole or path} --help"}
    if isinstance(error, click.NoSuchOption):
        near = ", ".join(sorted(error.possibilities or ()))
        return UsageError(UNLIKE if near else UNKNOWN, **facts, option=error.option_name, near=near)
    if isinstance(error, click.BadOptionUsage):
        flags = {
            name for one in command.params if getattr(one, "is_flag", False) for name in one.opts
        }
        return UsageError(
            FLAG if error.option_name in flags else VALUELESS, **facts, option=error.option_name
        )
    if isinstance(error, click.MissingParameter) and error.param is not None:
        what = (
            error.param.opts[0]
            if isinstance(error.param, click.Option)
            else error.param.human_readable_name.rstrip(".")
        )
        return UsageError(NEEDED, **facts, what=what)
    if isinstance(error, click.BadParameter) and error.param is not None:
        return wrong_value(facts, error.param)
    if type(error) is click.UsageError and error.ctx is not None:
        return UsageError(TOO_MANY, **facts)
    return None


def wrong_value(facts: dict[str, str], parameter: click.Parameter) -> UsageError | None:
    kind, facts = parameter.type, {**facts, "option": max(parameter.opts, key=len)}
    if isinstance(kind, click.Choice):
        return UsageError(ONE_OF, **facts, names=", ".join(sorted(map(str, kind.choices))))
    if isinstance(kind, click.IntRange) and kind.min is not None:
        low, high = str(kind.min), str(kind.max)
        return UsageError(AT_LEAST if kind.max is None else BETWEEN, **facts, low=low, high=high)
    return UsageError(WHOLE, **facts) if isinstance(kind, type(click.INT)) else None
