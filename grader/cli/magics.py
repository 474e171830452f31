"""The magic ``%grade`` of Jupyter and Colab: its options, those of ``grade``, and its place in IPython. Imports click."""

from __future__ import annotations

import atexit
import shlex
from pathlib import Path
from typing import Any

import click

from grader.cli.options import course_option, lang_option, sandbox_option, seed_option
from grader.commands.notebook import Asked, Kernel
from grader.errors import GraderError

NAME = "grade"


@click.command(NAME, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("lessons", nargs=-1, metavar="[LESSON]...")
@seed_option
@sandbox_option
@lang_option
@course_option
def asked(lessons: tuple[str, ...], seed: int | None, sandbox: str, lang: str | None, course_root: Path | None) -> Asked:
    """Grade lessons of this folder as they were last saved, or, as %%grade LESSON, the text of this cell.

    Example: %grade custom_sigmoid --seed 7
    """
    return Asked(lessons, course_root, seed, sandbox, lang)


class GradeMagic:
    """The magic in one shell."""

    def __init__(self) -> None:
        self.kernel = Kernel()

    def grade(self, line: str, cell: str | None = None) -> None:
        """Grade lessons of this folder, or the cell's text; `%grade --help` names the options."""
        from IPython.core.error import UsageError as Refused  # shown by IPython as a line, without a traceback
        from IPython.display import display

        try:
            wanted: Any = asked.main(shlex.split(line), f"%{NAME}" if cell is None else f"%%{NAME}", standalone_mode=False)
            if isinstance(wanted, Asked):
                display(  # type: ignore[no-untyped-call]
                    self.kernel.grade_here(wanted, Path()) if cell is None else self.kernel.grade_cell(wanted, cell, Path())
                )
        except click.ClickException as error:
            raise Refused(error.format_message()) from None
        except (GraderError, ValueError) as error:
            raise Refused(str(error)) from None


def register(shell: Any) -> None:
    """Add the magic to a shell; what it keeps running ends with the shell."""
    magic = GradeMagic()
    atexit.register(magic.kernel.close)
    shell.register_magic_function(magic.grade, "line_cell", NAME)


def unregister(shell: Any) -> None:
    """Take the magic out of a shell, and end what it keeps running."""
    magic: Any = None
    for kind in ("line", "cell"):
        magic = shell.magics_manager.magics[kind].pop(NAME, None) or magic
    if magic is not None:
        atexit.unregister(magic.__self__.kernel.close)
        magic.__self__.kernel.close()
