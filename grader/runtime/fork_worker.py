"""Workers that are forked: one when it is asked for, or one ahead of that, to be at hand.

A worker is a copy of the fork host, so it holds no check, no solution and no submission. It
confines itself, says under what it runs, and only then reads what it is sent.
"""

from __future__ import annotations

import os
import socket
import traceback
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, cast

from grader.core.limits import Limits
from grader.runtime.reaper import end_worker
from grader.worker.sandbox import Prepared, confine
from grader.worker.streams import open_streams
from grader.worker.wire.frames import write_frame


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """What an envelope says of a job: how its workers are to be confined, and whether one is made
    ahead for the next job.

    ``without`` leaves layers of the sandbox away.
    """

    limits: Limits
    sandbox: str
    without: tuple[str, ...]
    ahead: bool = False

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> WorkerOptions:
        """Terms from plain data."""
        return cls(
            Limits.from_dict(data["limits"]), data["sandbox"], tuple(data["without"]), data["ahead"]
        )


@dataclass(frozen=True, slots=True)
class ForkedWorker:
    """A worker as the host has it: its pid, and the judge's ends of its line and its output."""

    pid: int
    line: socket.socket
    output: int

    def let_go(self) -> None:
        """Close the host's copies of those ends."""
        self.line.close()
        os.close(self.output)


def fork_worker(
    terms: WorkerOptions, prepared: Prepared, *, rehearsed: bool = False
) -> ForkedWorker:
    """A new worker. A ``rehearsed`` one has answered questions of no meaning, and what is set up at
    first use is there.
    """
    line, far_line = socket.socketpair()
    output, far_output = os.pipe()
    pid = os.fork()
    if pid == 0:
        worker_process(far_line.fileno(), far_output, terms, prepared, rehearsed=rehearsed)
    far_line.close()
    os.close(far_output)
    return ForkedWorker(pid, line, output)


def worker_process(
    line: int, output: int, terms: WorkerOptions, prepared: Prepared, *, rehearsed: bool = False
) -> NoReturn:
    """What a forked worker does: confine itself, say so, serve. Never returns."""
    from grader.runtime.warmup import warm_up
    from grader.worker.process import serve

    code = 70
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        open_streams()
        sink = cast(BinaryIO, os.fdopen(os.dup(line), "wb"))
        source = cast(BinaryIO, os.fdopen(line, "rb"))
        held, missing = confine(
            terms.limits,
            prepared,
            mode=terms.sandbox,
            keep={source.fileno(), sink.fileno()},
            without=terms.without,
        )
        write_frame(sink, {"guarantees": held, "missing": missing, "mode": terms.sandbox})
        if rehearsed:
            warm_up()
        serve(source, sink)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


class PreforkedWorker:
    """A worker that is forked, confined and rehearsed before there is anything to load, or none.

    It is as every worker: a copy of the host, so without a check, a solution or a submission, and
    says under what it runs before it reads a thing. It waits without using anything; from when it
    is taken it is looked after and ended like any other.
    """

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._worker: ForkedWorker | None = None
        self._terms: WorkerOptions | None = None

    def make(self, terms: WorkerOptions) -> None:
        """Fork one, unless there is one already."""
        if self._worker is None:
            self._worker, self._terms = fork_worker(terms, self.prepared, rehearsed=True), terms

    def take(self, terms: WorkerOptions) -> ForkedWorker | None:
        """The spare worker, which is the caller's from then on; None where there is none under
        these terms that lives.
        """
        worker, self._worker = self._worker, None
        if worker is None or (
            self._terms == terms and os.waitpid(worker.pid, os.WNOHANG) == (0, 0)
        ):
            return worker
        worker.let_go()
        end_worker(worker.pid, died=False)
        return None

    def drop(self) -> None:
        """End it."""
        if (worker := self._worker) is not None:
            self._worker = None
            worker.let_go()
            end_worker(worker.pid, died=False)
