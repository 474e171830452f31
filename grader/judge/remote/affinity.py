"""Keep a judge and its worker on one processor while they talk: they take turns, and never work at
the same time.

On a machine with nothing else to do each would have a processor of its own that falls asleep at
every question, and waking one costs more than most answers. For each task the scheduler first picks
where the judge runs, so that tasks are spread as ever.

Where a system has no affinity (macOS, Windows) nothing is done.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

PROCESSOR = 36
"""Where ``/proc/self/stat`` has the processor that the process last ran on, counted from behind the
name (proc(5), field 39).
"""


@contextlib.contextmanager
def one_processor() -> Iterator[None]:
    """A block in which this process stays on the processor that it is on."""
    if sys.platform != "linux":
        yield
        return
    allowed = os.sched_getaffinity(0)
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()
        os.sched_setaffinity(0, {int(fields[PROCESSOR])} & allowed or allowed)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def pin_to_same_cpu(pid: int) -> None:
    """Have another process run where this one may."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # it may be gone already
            os.sched_setaffinity(pid, os.sched_getaffinity(0))
