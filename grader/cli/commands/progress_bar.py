"""Show the progress of a long command: a bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

Thing = TypeVar("Thing")
LOG_SECONDS = 5.0
"""How often a run without a terminal prints its progress."""
LOOK_SECONDS = 0.1
"""How often ``Meter.over`` reports its position, because there may be a million small items."""


class Rate(ProgressColumn):
    """The number of items per second."""

    def render(self, task: Task) -> Text:
        """Return ``12.5/s``, once it is known."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "", "dim")


class Meter:
    """A bar, or lines, for the parts of a command, one after another."""

    def __init__(self, console: Console) -> None:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            Rate(),
            TimeRemainingColumn(),
        )
        self._bar = (
            Progress(*columns, console=console, transient=True) if console.is_terminal else None
        )
        self._what, self._total = "", 0
        self._began = self._reported_at = 0.0

    def __enter__(self) -> Meter:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._began = self._reported_at = time.monotonic()
        if self._bar is not None:
            for task in self._bar.task_ids:
                self._bar.remove_task(task)
            self._bar.add_task(what, total=total)

    def update(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[-1], completed=done)
            return
        at = time.monotonic()
        if at - self._reported_at >= LOG_SECONDS:
            self._reported_at, rate = at, done / (at - self._began)
            left = math.ceil((self._total - done) / rate) if rate else 0
            print(
                f"{self._what}: {done} of {self._total} done, {rate:.1f}/s, about {left} s left",
                file=sys.stderr,
                flush=True,
            )

    def over(self, what: str, things: Collection[Thing]) -> Iterator[Thing]:
        self.begin(what, len(things))
        looked = time.monotonic()
        for done, thing in enumerate(things):
            if (at := time.monotonic()) - looked >= LOOK_SECONDS:
                looked = at
                self.update(done)
            yield thing


@contextlib.contextmanager
def grading_progress(console: Console, total: int) -> Iterator[Callable[[int], None]]:
    with Meter(console) as meter:
        meter.begin("grading", total)
        yield meter.update
