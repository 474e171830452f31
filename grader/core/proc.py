"""Read facts about processes and memory from Linux' ``/proc``. Other systems give none."""

from __future__ import annotations

import os
import sys

OUT_OF_MEMORY = (
    "The host ran out of memory, so the kernel killed a process of the grader. Free some memory, or"
    " grade fewer lessons or submissions at once, and grade again"
)
"""The message if ``oom_kills`` has grown since the start of a process that is gone now."""


def oom_kills() -> int:
    """Return how many processes this kernel has killed because memory ran out; 0 if unknown."""
    try:
        with open("/proc/vmstat", "rb") as vmstat:
            counts = dict(line.split() for line in vmstat)
    except (OSError, ValueError):
        return 0
    return int(counts.get(b"oom_kill", 0))


def run_delay(pid: int | str) -> float:
    """Return how many seconds a process's main thread has waited for a processor; 0 if unknown.

    Source: the second number of /proc/PID/schedstat (sched-stats in the kernel's documentation).
    """
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as schedstat:
            return int(schedstat.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def has_children(pid: int) -> bool | None:
    """Return whether a process's main thread has children; None if unknown.

    Source: /proc/PID/task/TID/children in proc_pid_task(5).
    """
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as children:
            return bool(children.read().strip())
    except OSError:
        return None


def cpu_seconds(pid: int | str) -> float:
    """Return how much processor time a process has used; 0 if unknown.

    Source: fields 14 and 15, utime and stime, of proc_pid_stat(5).
    """
    if sys.platform == "win32":
        return 0.0
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0
