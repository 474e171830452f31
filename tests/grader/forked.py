"""Students in workers that are forked from the test process, as the fork server does."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

from grader.core.limits import Limits
from grader.core.messages import WorkerOptions
from grader.course.source import Source
from grader.judge.remote.channel import SocketChannel
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.session import StudentSession
from grader.judge.remote.workers import ExitStatus, WorkerProcess, read_hello
from grader.runtime.forked_workers import end_worker, fork_worker
from grader.worker.sandbox import Prepared

Students = Callable[..., RemoteStudent]
"""``make(source, scenarios="", without=(), **limits)`` makes a student in a worker of its own."""


class ForkedWorkers:
    """A source of workers that are forked from this process."""

    def __init__(self, options: WorkerOptions, prepared: Prepared) -> None:
        self.options = options
        self.prepared = prepared

    def start(self) -> WorkerProcess:
        worker = fork_worker(self.options, self.prepared)
        output_bytes = self.options.limits.output_bytes
        channel = SocketChannel(worker.line, worker.output, output_bytes=output_bytes)
        return read_hello(channel, worker.pid)

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        worker.channel.settle()
        worker.channel.close()
        status = end_worker(worker.pid, died=died)
        return None if status is None else ExitStatus.of_code(os.waitstatus_to_exitcode(status))


@contextlib.contextmanager
def forked_students(prepared: Prepared, sandbox: str) -> Iterator[Students]:
    """Yield a function that makes students; their workers end with the block."""
    with contextlib.ExitStack() as sessions:

        def make(
            source: str, scenarios: str = "", *, without: tuple[str, ...] = (), **limits: float
        ) -> RemoteStudent:
            bounds = Limits.from_dict(limits)
            session = StudentSession(
                ForkedWorkers(WorkerOptions(bounds, sandbox, without), prepared),
                source=Source(source, "lesson.py"),
                scenarios=scenarios,
                limits=bounds,
            )
            sessions.callback(session.close)
            return RemoteStudent(session)

        yield make
