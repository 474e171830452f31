"""End a worker and everything that it started, for the fork server."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection
from pathlib import Path


def end_worker(pid: int, *, died: bool) -> int | None:
    """Kill a worker and its process group; return its exit status if it had already ended, else
    None.

    If ``died``, its connection had ended: wait a moment for the status.
    """
    until = time.monotonic() + (1.0 if died else 0.0)
    while (status := status_of(pid)) is None and time.monotonic() < until:
        time.sleep(0.001)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    if status is None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    return status


def status_of(pid: int) -> int | None:
    with contextlib.suppress(ChildProcessError):
        ended, status = os.waitpid(pid, os.WNOHANG)
        return status if ended else None
    return None


def children() -> list[int]:
    """Return the pids of this process's children and adopted orphans (Linux; elsewhere none)."""
    path = Path(f"/proc/self/task/{os.getpid()}/children")
    try:
        return [int(pid) for pid in path.read_text("utf-8").split()]
    except OSError:
        return []


def kill_everything(*, spare: Collection[int] = ()) -> None:
    """Kill and reap every child except those to spare. Processes that forked twice or started a
    session have become our children.
    """
    while pids := [pid for pid in children() if pid not in spare]:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
