"""Ending processes: a worker and all that it started. For the fork server."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection
from pathlib import Path


def end_worker(pid: int, *, died: bool) -> int | None:
    """Kill a worker and its group; return its status if it ended (or ``died``) by itself."""
    until = time.monotonic() + (1.0 if died else 0.0)
    status: int | None = None
    while status is None:
        with contextlib.suppress(ChildProcessError):
            ended, code = os.waitpid(pid, os.WNOHANG)
            status = code if ended else None
        if time.monotonic() >= until:
            break
        if status is None:
            time.sleep(0.001)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    if status is None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    return status


def children() -> list[int]:
    """Return the pids of this process's children and adopted orphans (Linux; else none)."""
    path = Path(f"/proc/self/task/{os.getpid()}/children")
    try:
        return [int(pid) for pid in path.read_text("utf-8").split()]
    except OSError:
        return []


def kill_everything(*, spare: Collection[int] = ()) -> None:
    """Kill and reap all children and adopted orphans but those to ``spare``."""
    while pids := [pid for pid in children() if pid not in spare]:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
