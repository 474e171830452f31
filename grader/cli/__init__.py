"""The command ``grade``. Each module here defines the options of one group of commands."""

from __future__ import annotations

import difflib
import errno
import sys
import traceback
from pathlib import Path
from typing import Any, cast

import click
from click.shell_completion import CompletionItem
from click_default_group import DefaultGroup

from grader import __version__
from grader.cli import author, instructor, learner
from grader.cli.help import TranslatedCommand, marked, misuse, peek_language, summary, words_for
from grader.cli.options import LANG, lesson_names
from grader.cli.output_file import short_path
from grader.cli.streams import keep_streams_going
from grader.core.errors import ExitCode, GraderError, UsageError

REMEDIES = {
    errno.ENAMETOOLONG: "Choose a shorter path",
    errno.ENOSPC: "Free some space, and try again",
    errno.EDQUOT: "Free some space, and try again",
    errno.EROFS: "Choose a folder that can be written",
    errno.EFBIG: "Raise the limit for the size of a file (ulimit -f)",
    errno.EMFILE: "Raise the limit for open files (ulimit -n)",
    errno.ENFILE: "The system has too many open files: close other programs",
    errno.ENOMEM: "The system lacks memory: close other programs, or raise the limit (ulimit -v)",
    errno.EAGAIN: "The system can start no more processes: close other programs",
}
"""Remedies for errors that this system causes."""

NEAR_COMMAND = 0.75
"""How alike a mistyped word and a command are (difflib's ratio)."""
MISTYPED = (
    "There is neither a command nor a lesson {word}. Did you mean {command}? All commands: grade"
    " --help"
)

SECTIONS = (
    ("For learners", learner.COMMANDS),
    ("For instructors", instructor.COMMANDS),
    ("For authors", author.COMMANDS),
)


class Commands(TranslatedCommand, DefaultGroup):  # type: ignore[misc]
    """Commands; if the first word is not one of them, it is a lesson for ``run``."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show in the usage how lessons are graded and how commands are called."""
        head = marked(words_for(ctx)("Usage: "))
        formatter.write(
            f"{head}grade [LESSON]... [OPTIONS]\n{' ' * len(head)}grade COMMAND [ARGS]...\n"
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note the language; in shell completion of a first word, add no default command.

        ``grade help`` and ``grade help COMMAND`` mean ``--help``.
        """
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        ctx.meta[LANG] = peek_language(args)
        if ctx.resilient_parsing and not args:
            return click.Group.parse_args(self, ctx, args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; refuse a first word that looks like a mistyped command."""
        word = args[0]
        if word not in self.commands and not word.startswith("-") and not Path(word).exists():
            names = [*self.commands, "help"]
            near = difflib.get_close_matches(word, names, n=2, cutoff=NEAR_COMMAND)
            # Two swapped letters are the likelier slip: hnit means hint, not init.
            near.sort(key=lambda name: sorted(name) != sorted(word))
            lessons = lesson_names(ctx, None, "")
            lesson = difflib.get_close_matches(word, lessons, n=1, cutoff=NEAR_COMMAND)
            if near and not lesson and not any(name.startswith(word) for name in lessons):
                raise UsageError(MISTYPED, word=repr(word), command=f"grade {near[0]}")
        found: tuple[str | None, click.Command | None, list[str]] = super().resolve_command(
            ctx, args
        )
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; translate errors into the reader's language."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            name = ctx.invoked_subcommand or ""
            wrong = misuse(
                error, self.commands.get(name, self), f"{ctx.command_path} {name}".rstrip()
            )
            if wrong is None:
                raise
            raise UsageError(words_for(ctx)(wrong.template, **wrong.facts)) from None
        except UsageError as error:
            raise type(error)(words_for(ctx)(error.template, **error.facts)) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        lessons = [CompletionItem(name) for name in lesson_names(ctx, None, incomplete)]
        return [*super().shell_complete(ctx, incomplete), *lessons]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        tr, width = words_for(ctx), max(map(len, self.commands))
        for heading, commands in SECTIONS:
            with formatter.section(marked(tr(heading))):
                formatter.write_dl(
                    (str(command.name).ljust(width), marked(summary(command, tr)))
                    for command in commands
                )


@click.group(
    cls=Commands,
    default="run",
    default_if_no_args=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="gradlings")
def grade() -> None:
    """Grade the lessons in this folder: all of them, or those you name.

    \b
    grade init my-work        begin: a folder with all lessons
    grade                     grade every lesson that is here
    grade custom_sigmoid      grade one
    grade run --help          the options of grading
    """


cli = cast(click.Group, grade)
for _, section in SECTIONS:
    for one in section:
        cli.add_command(one)


def print_error(message: str) -> None:
    """Print an error's message, wrapped on a terminal."""
    if not sys.stderr.isatty():
        click.echo(message, err=True)
        return
    from rich.text import Text

    from grader.render.terminal import make_console

    make_console(stderr=True).print(Text(message))


def host_problem(error: OSError) -> str | None:
    """Return what is wrong with this system, and the remedy; None if the error is our own."""
    try:
        Path.cwd()
    except OSError:
        return "the working folder no longer exists. Change to another folder"
    if "No usable temporary directory" in str(error.strerror):
        return "no temporary folder can be written. Name one in the variable TMPDIR"
    remedy = REMEDIES.get(error.errno or 0)
    if remedy is None:
        return None
    path = f"{short_path(error.filename)}: " if error.filename else ""
    return f"{path}{error.strerror}. {remedy}"


def main(args: list[str] | None = None) -> None:
    """Run the command, as its entry point; print an expected error as one message, with its exit
    code.
    """
    keep_streams_going()
    try:
        status: Any = cli.main(args, prog_name="grade", standalone_mode=False)
        sys.exit(status if isinstance(status, int) else ExitCode.OK)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(ExitCode.USAGE)
    except GraderError as error:
        print_error(f"grade: {error}")
        sys.exit(error.exit_code)
    except Exception as error:
        if isinstance(error, OSError) and (sentence := host_problem(error)):
            print_error(f"grade: {sentence}")
            sys.exit(ExitCode.USAGE)
        click.echo(
            f"{traceback.format_exc()}\ngrade: this is the grader's own fault, not yours; please"
            " report it",
            err=True,
        )
        sys.exit(ExitCode.ENGINE_FAULT)
