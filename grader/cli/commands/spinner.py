"""That something is under way, on a terminal, until there is a verdict to show."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from grader.core.i18n import Catalogue

IMPORT_SECONDS = 5
"""By then torch is imported, and what takes long is the student's code."""


@contextlib.contextmanager
def waiting(console: Console, tr: Catalogue) -> Iterator[None]:
    """Say that grading has begun until the block ends; nothing without a terminal.

    A first run reads torch from a cold disk for seconds. Jupyter, which wants colors without a
    terminal, would print a line for each frame.
    """
    if not (console.is_terminal and console.file.isatty()):
        yield
        return
    with console.status(Elapsed(tr), spinner="line"):  # ASCII: any console has it
        yield


class Elapsed:
    """What is waited for, as it is drawn: torch at first, then for how long the code has run."""

    def __init__(self, tr: Catalogue) -> None:
        self.tr = tr
        self.began = time.monotonic()

    def __rich__(self) -> Text:
        seconds = int(time.monotonic() - self.began)
        if seconds < IMPORT_SECONDS:
            return Text(self.tr("Grading … importing torch takes a few seconds"), "dim")
        return Text(
            self.tr("Grading … your code has been running for {seconds} s", seconds=seconds), "dim"
        )
