"""Show on a terminal that grading is in progress, until there is a verdict."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Protocol

from rich.console import Console
from rich.text import Text

from grader.core.i18n import Catalogue


class Host(Protocol):
    """The fork server that judges; ``judging`` says whether torch is imported, None if unknown."""

    @property
    def judging(self) -> bool | None: ...


@contextlib.contextmanager
def waiting(console: Console, tr: Catalogue, host: Host) -> Iterator[None]:
    """Show until the block ends that grading has begun; show nothing without a terminal.

    A first run may read torch from a cold disk for seconds. Jupyter asks for colors without having
    a terminal and would print a line for each frame.
    """
    if not (console.is_terminal and console.file.isatty()):
        yield
        return
    with console.status(Elapsed(tr, host), spinner="line"):  # ASCII, which every console can show
        yield


class Elapsed:
    """The text beside the spinner: torch is being imported, then how long the checks have run."""

    def __init__(self, tr: Catalogue, host: Host) -> None:
        self.tr, self.host = tr, host
        self.began = time.monotonic()
        self.imported_at: float | None = None

    def __rich__(self) -> Text:
        judging, now = self.host.judging, time.monotonic()
        if judging and self.imported_at is None:
            self.imported_at = now
        if self.imported_at is not None:
            seconds = int(now - self.imported_at)
            text = self.tr("Grading … running your code, {seconds} s", seconds=seconds)
        elif judging is None:
            text = self.tr("Grading … {seconds} s", seconds=int(now - self.began))
        else:
            text = self.tr("Grading … importing torch takes a few seconds")
        return Text(text, "dim")
