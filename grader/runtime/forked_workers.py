"""Start workers for the fork server, and end them with everything that they started.

A worker is a copy of the fork server, so it has no check, no solution and no submission. It
confines itself, reports its guarantees and limits, and only then reads requests.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
import traceback
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from grader.core.messages import WorkerHello, WorkerOptions
from grader.worker.sandbox import Prepared, confine
from grader.worker.wire.frames import write_frame


def end_worker(pid: int, *, died: bool) -> int | None:
    """Kill a worker and its process group; return its exit status if it had already ended. If
    ``died``, its connection had ended: wait a moment for the status.
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


@dataclass(frozen=True, slots=True)
class ForkedWorker:
    """The fork server's handle on a worker, with the judge's ends of connection and output."""

    pid: int
    line: socket.socket
    output: int

    def close(self) -> None:
        """Close the fork server's copies of those ends."""
        self.line.close()
        os.close(self.output)


def fork_worker(options: WorkerOptions, prepared: Prepared) -> ForkedWorker:
    """Fork a worker and return the fork server's handle on it."""
    line, far_line = socket.socketpair()
    output, far_output = os.pipe()
    pid = os.fork()
    if pid == 0:
        worker_process(far_line.fileno(), far_output, options, prepared)
    far_line.close()
    os.close(far_output)
    return ForkedWorker(pid, line, output)


def worker_process(line: int, output: int, options: WorkerOptions, prepared: Prepared) -> NoReturn:
    """Run as a forked worker: confine this process, report the guarantees, serve. Never return."""
    from grader.worker.process import serve, set_up  # with torch, which is loaded by then

    code = 70
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        set_up()
        sink = cast(BinaryIO, os.fdopen(os.dup(line), "wb"))
        source = cast(BinaryIO, os.fdopen(line, "rb"))
        held, missing, limits = confine(
            options.limits,
            prepared,
            mode=options.sandbox,
            keep={source.fileno(), sink.fileno()},
            without=options.without,
        )
        write_frame(sink, WorkerHello(options.sandbox, held, missing, limits).as_json())
        serve(source, sink)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


class WorkerStarter:
    """Forks workers; on request one ahead, which saves 20 to 30 ms of the next submission. The
    spare worker is like any other: confined, and without check, solution or submission.
    """

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._spare: tuple[ForkedWorker, WorkerOptions] | None = None

    def start(self, options: WorkerOptions) -> ForkedWorker:
        """Return the spare worker if it has these options and is alive, else a new one."""
        if self._spare is not None:
            worker, its_options = self._spare
            if its_options == options and os.waitpid(worker.pid, os.WNOHANG) == (0, 0):
                self._spare = None
                return worker
            self.drop_spare()
        return fork_worker(options, self.prepared)

    @property
    def spare_pids(self) -> set[int]:
        return set() if self._spare is None else {self._spare[0].pid}

    def make_spare(self, options: WorkerOptions) -> None:
        if self._spare is None:
            self._spare = fork_worker(options, self.prepared), options

    def drop_spare(self) -> None:
        if self._spare is not None:
            worker, _ = self._spare
            self._spare = None
            worker.close()
            end_worker(worker.pid, died=False)
