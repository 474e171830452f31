"""The command ``grade``: the list of commands, the default command, errors and exit codes.

A command's module is imported when the command is used, so that ``grade --help`` is fast. It has
the command's options and its work.
"""

from __future__ import annotations

import codecs
import difflib
import errno
import importlib
import io
import shlex
import sys
import traceback
import unicodedata
from pathlib import Path
from typing import Any, NamedTuple, cast

import click
from click.shell_completion import CompletionItem
from click_default_group import DefaultGroup

from grader import __version__
from grader.cli.help import (
    TranslatedCommand,
    keep_language,
    marked,
    misuse,
    peek_language,
    words_for,
)
from grader.cli.options import complete_lesson, short_path
from grader.core.errors import ExitCode, GraderError, UsageError


class Listed(NamedTuple):
    """A command in the list: its module in this package, what it does, if notebooks take it too."""

    module: str
    about: str
    in_notebook: bool = False


SECTIONS = {
    "For learners": {
        "run": Listed("grade", "Grade lessons; `grade` alone does this too.", True),
        "init": Listed("workspace", "Make a folder with all lessons to work in.", True),
        "list": Listed("learner", "List the lessons: how far you are, and what is next.", True),
        "next": Listed("learner", "Show the lesson to take next, and how to begin.", True),
        "read": Listed("learner", "Read a lesson's README here; the answers stay folded.", True),
        "watch": Listed("watch", "Grade a lesson whenever you save it."),
        "hint": Listed("learner", "Show a hint for a lesson or one of its functions.", True),
        "replay": Listed("replay", "Run a check again from its seed, or debug it.", True),
        "reset": Listed("learner", "Start a lesson again; a copy of your file is kept.", True),
        "solution": Listed(
            "learner", "Compare your code with the solution, once you have full marks.", True
        ),
        "graph": Listed("graph", "Draw the graph that your function builds.", True),
    },
    "For instructors": {
        "batch": Listed("batch", "Grade a class: a gradebook, a page for each student, tables."),
        "show": Listed("term", "Explain a mark: checks, attempts, lateness, adjustments."),
        "changes": Listed("term", "List the marks that changed, each with the reason."),
        "adjust": Listed("gradebook", "Change a score by hand, with a reason."),
        "comment": Listed("gradebook", "Comment on a submission, a lesson or a line."),
        "forget": Listed("gradebook", "Leave a submission out of the gradebook."),
        "rename": Listed("gradebook", "Give a submission another name."),
        "swap": Listed("term", "Exchange what two students handed in."),
        "give": Listed("give", "Give a file that was not graded to its owner."),
        "person": Listed("term", "Say who a person of a download is."),
        "export": Listed("exports", "Write a gradebook in another system's format."),
        "feedback": Listed("exports", "Make the zip that returns pages to students."),
        "similar": Listed("exports", "Show which submissions share code, side by side."),
        "name": Listed("gradebook", "Make a group of wrong answers a known mistake."),
        "release": Listed("publishing", "Make the folder to hand out, without solutions."),
        "gradescope": Listed("publishing", "Make the autograder zip that Gradescope takes."),
        "classroom50": Listed("publishing", "Make the autograder that Classroom 50 takes."),
    },
    "For authors": {
        "verify": Listed(
            "author", "Check the course: solutions pass, stubs fail, mistakes get names."
        ),
        "new": Listed("author", "Create a working lesson to turn into your own."),
    },
}
COMMANDS = {name: one for section in SECTIONS.values() for name, one in section.items()}

NEAR_COMMAND = 0.75
"""How alike a mistyped word and a command are (difflib's ratio)."""
MISTYPED = (
    "There is neither a command nor a lesson {word}. Did you mean {command}? All commands: grade"
    " --help"
)


NO_COMMAND = "There is no command {word}. All commands: grade --help"
COMES_FIRST = "{name} is a command, so it comes first: {command}"
WORDS = "grader.words"
"""The key under which a context keeps what was typed after ``grade``."""


class Commands(TranslatedCommand, DefaultGroup):  # type: ignore[misc]
    """Commands; if the first word is not one of them, it is a lesson for ``run``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or else the default one; import its module if necessary."""
        name = cmd_name if cmd_name in COMMANDS else self.default_cmd_name
        if name not in self.commands:
            module = importlib.import_module(f"grader.cli.{COMMANDS[name].module}")
            commands = (one for one in vars(module).values() if isinstance(one, click.Command))
            self.add_command(next(one for one in commands if one.name == name))
        return cast(click.Command, super().get_command(ctx, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; refuse a first word that looks like a mistyped command."""
        word = args[0]
        if word not in COMMANDS and not word.startswith("-") and not Path(word).exists():
            near = difflib.get_close_matches(word, [*COMMANDS, "help"], n=2, cutoff=NEAR_COMMAND)
            # Two swapped letters are the likelier slip: hnit means hint, not init.
            near.sort(key=lambda name: sorted(name) != sorted(word))
            lessons = complete_lesson(ctx, None, "")
            lesson = difflib.get_close_matches(word, lessons, n=1, cutoff=NEAR_COMMAND)
            if near and not lesson and not any(name.startswith(word) for name in lessons):
                raise UsageError(MISTYPED, word=repr(word), command=f"grade {near[0]}")
        found: tuple[str | None, click.Command | None, list[str]] = super().resolve_command(
            ctx, args
        )
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take ``grade help`` and ``grade help COMMAND`` as ``--help``; in shell completion of a
        first word, add no default command.
        """
        ctx.meta[WORDS] = tuple(args)
        if args[:1] == ["help"]:
            word = next(iter(args[1:]), "--help")
            if not word.startswith("-") and word not in (*COMMANDS, "help"):
                raise UsageError(words_for(ctx)(NO_COMMAND, word=repr(word)))
            args = [*args[1:2], "--help"] if word in COMMANDS else ["--help"]
        if ctx.resilient_parsing and not args:
            return click.Group.parse_args(self, ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; translate errors into the reader's language."""
        if named := peek_language(ctx.meta[WORDS]):
            keep_language(named)
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            name = ctx.invoked_subcommand or ""
            whole = f"{ctx.command_path} {name}".rstrip()
            # The default command is told as it was typed: without its name.
            typed = ctx.meta[WORDS][:1] == (name,)
            path = whole if typed else ctx.command_path
            wrong = misuse(error, self.commands.get(name, self), path, whole)
            if wrong is None:
                raise
            raise UsageError(words_for(ctx)(wrong.template, **wrong.facts)) from None
        except UsageError as error:
            error = self.not_first(ctx, error) or error
            raise type(error)(words_for(ctx)(error.template, **error.facts)) from None

    def not_first(self, ctx: click.Context, error: UsageError) -> UsageError | None:
        """Return how to type a command that was typed after options, as if it were a lesson."""
        words = ctx.meta[WORDS]
        name = next((one for one in words[1:] if repr(one) == error.facts.get("name")), None)
        if ctx.invoked_subcommand != self.default_cmd_name or name not in COMMANDS:
            return None
        command = self.get_command(ctx, name)
        assert command is not None
        known = {option for one in command.params for option in one.opts}
        rest = [one for one in words if one != name]
        options = [one.partition("=")[0] for one in rest if one.startswith("-")]
        rest = rest if known.issuperset(options) else []
        return UsageError(COMES_FIRST, name=name, command=shlex.join(["grade", name, *rest]))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands, options and lessons without importing a command."""
        return [
            *(
                CompletionItem(name, help=COMMANDS[name].about)
                for name in self.list_commands(ctx)
                if name.startswith(incomplete)
            ),
            *click.Command.shell_complete(self, ctx, incomplete),
            *map(CompletionItem, complete_lesson(ctx, None, incomplete)),
        ]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show in the usage how lessons are graded and how commands are called."""
        head = marked(words_for(ctx)("Usage: "))
        formatter.write(
            f"{head}grade [LESSON]... [OPTIONS]\n{' ' * len(head)}grade COMMAND [ARGS]...\n"
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        tr, width = words_for(ctx), max(map(len, COMMANDS))
        for heading, commands in SECTIONS.items():
            with formatter.section(marked(tr(heading))):
                formatter.write_dl(
                    (name.ljust(width), marked(tr(one.about))) for name, one in commands.items()
                )


@click.group(
    "grade",
    cls=Commands,
    default="run",
    default_if_no_args=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="gradlings")
def group() -> None:
    """Grade the lessons in this folder: all of them, or those you name.

    \b
    grade init my-work        begin: a folder with all lessons
    grade                     grade every lesson that is here
    grade custom_sigmoid      grade one
    grade run --help          the options of grading
    """


cli = cast(click.Group, group)


def main(args: list[str] | None = None) -> None:
    """Run the command; print an expected error as one message, and exit with its code."""
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


def print_error(message: str) -> None:
    """Print an error's message, wrapped on a terminal."""
    if not sys.stderr.isatty():
        click.echo(message, err=True)
        return
    from rich.text import Text

    from grader.render.terminal import make_console

    make_console(stderr=True).print(Text(message))


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


STAND_INS = {
    **dict(zip("✘✔✓◷○●→▶◀─│└├", "x++~o*>><-|`|", strict=True)),
    **dict(zip("·◐–—↳×∘∂‘’“”", "-%-->xod''\"\"", strict=True)),
    **dict.fromkeys("…⋯", "..."),
}
"""Replacements, which every encoding has, for the letters that our reports are drawn with."""
HANDLER = "grade.stand_in"


def keep_streams_going() -> None:
    """Make standard output and error replace letters that their encoding lacks."""
    codecs.register_error(HANDLER, stand_in)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def stand_in(error: UnicodeError) -> tuple[str, int]:
    """Handle an encoding error: return a replacement for each letter, without its accents, or a
    question mark.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(STAND_INS.get(letter) or in_ascii(letter) for letter in letters), error.end


def in_ascii(letter: str) -> str:
    return unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode() or "?"
