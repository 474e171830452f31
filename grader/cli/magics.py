"""Define and register the magic ``%grade`` for Jupyter and Colab.

Other commands go through it too, because a notebook's environment may have no ``grade`` on its
PATH.
"""

from __future__ import annotations

import atexit
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from grader.cli import learner
from grader.cli.commands.notebook import COLUMNS, Kernel, MagicOptions, as_magics, greeting
from grader.cli.commands.workspace import IN_NOTEBOOK
from grader.cli.help import TranslatedCommand, misuse, peek_language
from grader.cli.options import course_option, lang_option, sandbox_option, seed_option
from grader.cli.unsaved import RunDefinitions
from grader.core.errors import GraderError, UsageError
from grader.core.i18n import engine_catalogue, wanted_language

NAME = "grade"
PASSED_ON = frozenset(str(command.name) for command in learner.COMMANDS) - {"run", "watch"}
"""The commands that work in a notebook as on a terminal; running a cell again takes the place of
`watch`.
"""
NO_WATCH = (
    "A notebook has no `grade watch`. Save, and run the cell with {magic} again: it grades at once"
)


@click.command(
    NAME, cls=TranslatedCommand, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.argument("lessons", nargs=-1, metavar="[LESSON]...")
@seed_option
@sandbox_option
@lang_option
@course_option
def magic_command(
    lessons: tuple[str, ...],
    seed: int | None,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> MagicOptions:
    """Grade lessons of this folder as they were last saved, or, as %%grade LESSON, the text of this
    cell.

    The learner's other commands work too: %grade init my-work --notebook, %grade next, %grade hint
    custom_sigmoid.

    Example: %grade custom_sigmoid --seed 7
    """
    return MagicOptions(lessons, course_root, seed, sandbox, lang)


class GradeMagic:
    """The magic in one shell."""

    def __init__(self) -> None:
        self.kernel = Kernel()
        self.ran = RunDefinitions()

    def grade(self, line: str, cell: str | None = None) -> None:
        """Grade lessons of this folder, or the cell's text; `%grade --help` names the options."""
        # IPython shows this error as one line, without a traceback.
        from IPython.core.error import UsageError as Refused
        from IPython.display import display

        try:
            words = shlex.split(line, comments=True)
            if cell is None and words and words[0] in PASSED_ON:
                run_command(words)
                return
            if words[:1] == ["watch"]:
                raise UsageError(NO_WATCH, magic="%grade")
            wanted: Any = magic_command.main(
                words, f"%{NAME}" if cell is None else f"%%{NAME}", standalone_mode=False
            )
            if isinstance(wanted, MagicOptions):
                shown = (
                    self.kernel.grade_here(wanted, Path(), self.ran)
                    if cell is None
                    else self.kernel.grade_cell(wanted, cell, Path())
                )
                display(shown)  # type: ignore[no-untyped-call]
        except click.ClickException as error:
            wrong = misuse(error, magic_command, "%grade")
            raise Refused(error_text(wrong, line) if wrong else error.format_message()) from None
        except (GraderError, ValueError) as error:
            raise Refused(error_text(error, line)) from None

    def note_cell(self, info: Any) -> None:
        """Note what a cell defines, to find out later whether the notebook was saved since."""
        from IPython import get_ipython

        self.ran.note(info.raw_cell, getattr(get_ipython(), "execution_count", 0))


def run_command(words: list[str]) -> None:
    """Run another of the learner's commands and print its output; it can't ask questions."""
    environment = {
        **os.environ,
        "COLUMNS": str(COLUMNS),
        "PYTHONIOENCODING": "utf-8",
        IN_NOTEBOOK: "1",
    }
    command = [sys.executable, "-P", "-m", "grader", *words]
    ran = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    print(as_magics(ran.stdout), end="")
    print(as_magics(ran.stderr), end="", file=sys.stderr)


def error_text(error: Exception, line: str) -> str:
    """Return an error's message, translated into the language of the magic's line if possible."""
    if not isinstance(error, UsageError) or not error.facts:
        return str(error)
    return engine_catalogue(wanted_language(peek_language(line.split())))(
        error.template, **error.facts
    )


def register(shell: Any) -> None:
    """Add the magic to a shell and print a greeting. It ends with the shell."""
    magic = GradeMagic()
    atexit.register(magic.kernel.close)
    shell.register_magic_function(magic.grade, "line_cell", NAME)
    shell.events.register("pre_run_cell", magic.note_cell)
    print(greeting(Path()))


def unregister(shell: Any) -> None:
    magic: Any = None
    for kind in ("line", "cell"):
        magic = shell.magics_manager.magics[kind].pop(NAME, None) or magic
    if magic is not None:
        shell.events.unregister("pre_run_cell", magic.__self__.note_cell)
        atexit.unregister(magic.__self__.kernel.close)
        magic.__self__.kernel.close()
