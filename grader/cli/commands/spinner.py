"""That something is under way, on a terminal, until there is a verdict to show."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from grader.core.i18n import Catalogue


@contextlib.contextmanager
def waiting(console: Console, tr: Catalogue) -> Iterator[None]:
    """Say that grading has begun until the block ends; nothing without a terminal.

    A first run reads torch from a cold disk for seconds. Jupyter, which wants colors without a
    terminal, would print a line for each frame.
    """
    if not (console.is_terminal and console.file.isatty()):
        yield
        return
    text = Text(tr("Grading … importing torch takes a few seconds"), "dim")
    with console.status(text, spinner="line"):  # ASCII: any console has it
        yield
