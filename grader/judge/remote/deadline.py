"""Deadlines for a worker's answers. Time during which a busy host kept the worker or the judge from
running does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from grader.core.errors import HostBusy
from grader.core.limits import MAX_STARVED
from grader.core.processes import cpu_seconds, run_delay

WORTH_WAITING = 0.005
"""A shorter wait does not extend a deadline."""
BUSY = (
    "the computer was too busy: your code and the grader waited {seconds} s for a processor. Stop"
    " other programs, or grade fewer submissions at once (--workers), and grade again"
)
BUSY_HERE = f"{BUSY}. If your code is on this line again, look for a loop that does not end"


class Starvation:
    """How long a worker, and the judge that waits for it, have waited for a processor."""

    def __init__(self) -> None:
        self.total = 0.0
        self._pid: int | None = None
        self._mark: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def extreme(self) -> bool:
        """Whether deadlines have been extended by the maximum."""
        return self.total >= MAX_STARVED

    def fault(self, line: int | None) -> HostBusy:
        """Return the error for a deadline that passed on a busy host, with the line if known."""
        return HostBusy(BUSY_HERE if line else BUSY, line=line, seconds=f"{self.total:.0f}")

    def watch(self, pid: int) -> None:
        """Measure a new worker from now on."""
        self._pid = pid
        self._mark = self._now()

    def seconds_since(self) -> float:
        """Return how long both have waited for a processor since the last call.

        Waiting does not count while one of the two uses a processor: a worker that prints without
        end and the judge that reads it wait for each other, not for the host. The sum over a lesson
        is at most ``MAX_STARVED``.
        """
        now, mark = self._now(), self._mark
        clock, waited, used = (after - before for after, before in zip(now, mark, strict=True))
        self._mark = now
        seconds = min(waited, clock - used, MAX_STARVED - self.total)
        if seconds < WORTH_WAITING:
            return 0.0
        self.total += seconds
        return seconds

    def _now(self) -> tuple[float, float, float]:
        if self._pid is None:
            return time.monotonic(), 0.0, 0.0
        waited = run_delay(self._pid) + run_delay("self")
        return time.monotonic(), waited, cpu_seconds(self._pid) + time.process_time()


class Deadline:
    """A time limit. When it is reached, it is extended by the seconds that ``more`` returns, until
    that is 0.
    """

    def __init__(self, seconds: float, more: Callable[[], float] = lambda: 0.0) -> None:
        self._at = time.monotonic() + seconds
        self._more = more

    def left(self) -> float:
        """Return the seconds that are left; 0 or less once the limit has passed."""
        left = self._at - time.monotonic()
        if left <= 0:
            more = self._more()
            self._at += more
            left += more
        return left
