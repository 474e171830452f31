"""That something is under way, on a terminal, until there is a verdict to show."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from grader.core.i18n import Catalogue


@contextlib.contextmanager
def waiting(console: Console, tr: Catalogue) -> Iterator[None]:
    """Say that grading has begun, and take it away in the end; nothing where there is no terminal.

    A first run reads torch from a cold disk: seconds in which an empty screen looks like a program
    that hangs. Jupyter wants colours without a terminal: each picture of what moves would be a line
    there.
    """
    if not (console.is_terminal and console.file.isatty()):
        yield
        return
    with console.status(
        Text(tr("Grading … importing torch takes a few seconds"), "dim"), spinner="line"
    ):  # ASCII: any console has it
        yield
