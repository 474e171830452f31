"""The sandbox: what is done to a freshly forked worker before it reads the student's file.

Theory of operation
-------------------
The host forks a worker. The worker calls ``confine`` and only then listens to the judge. Everything is taken away, nothing is asked
for. The parts, in order:

1. *Descriptors.* Standard input is empty, standard output and error are one pipe to the judge, the line to the judge stays; all
   else is closed, so nothing is inherited.
2. *Session.* The worker leads a session and a process group of its own and dies with its host.
3. *Limits.* Processor time, address space, file size, open files; no core dumps. The wall clock is the judge's.

``confine`` returns the guarantees that hold and those that don't, in the words of ``GUARANTEES``; the report names them. Layers
that confine files, the network and other processes belong here, between 2 and 3, each as a module of its own.

Imports the standard library only, so that a fork needs nothing loaded late.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Any

from grader.sandbox.limits import Limits

if sys.platform != "win32":
    import resource

GUARANTEES = ("environment", "descriptors", "time", "memory", "files", "network", "processes")
"""Everything that a worker could be denied; what is not yet, ``confine`` reports as missing."""

LINUX: bool = sys.platform.startswith("linux")
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def prctl(option: int, argument: int) -> bool:
    """``prctl(2)``; False where there is none or it refused."""
    call: Any = getattr(ctypes.CDLL(None, use_errno=True), "prctl", None)
    return call is not None and call(option, argument, 0, 0, 0) == 0


def adopt_orphans() -> None:
    """Make this process the parent of whatever its workers leave behind (Linux)."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def confine(limits: Limits, *, mode: str, keep: set[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Confine this process; ``(guarantees that hold, guarantees that don't)``.

    ``keep`` are the descriptors that stay open beside 0, 1 and 2. With ``mode`` ``off`` only what costs the student's code nothing
    is done: descriptors and session.
    """
    close_all_but(keep | {0, 1, 2})
    os.setsid()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    held = ["environment", "descriptors"]
    if mode != "off" and sys.platform != "win32":
        held += set_limits(limits)
    return tuple(held), tuple(name for name in GUARANTEES if name not in held)


def close_all_but(keep: set[int]) -> None:
    """Close every descriptor but these."""
    start = 0
    for fd in sorted(keep):
        if start < fd:  # an empty range is passed on to close_range(2) as one without an end
            os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, 4096)


def set_limits(limits: Limits) -> list[str]:
    """Set the resource limits; the guarantees that they make."""
    for which, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
    ):
        resource.setrlimit(which, (value, value))
    if LINUX:
        cap = address_space_bytes() + limits.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
        return ["time", "memory"]
    return ["time"]


def address_space_bytes() -> int:
    """The size of this process's address space (Linux)."""
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
