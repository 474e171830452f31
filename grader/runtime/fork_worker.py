"""Workers that are forked from the fork server.

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


def fork_worker(terms: WorkerOptions, prepared: Prepared) -> ForkedWorker:
    """Fork a new worker."""
    line, far_line = socket.socketpair()
    output, far_output = os.pipe()
    pid = os.fork()
    if pid == 0:
        worker_process(far_line.fileno(), far_output, terms, prepared)
    far_line.close()
    os.close(far_output)
    return ForkedWorker(pid, line, output)


def worker_process(line: int, output: int, terms: WorkerOptions, prepared: Prepared) -> NoReturn:
    """What a forked worker does: confine itself, say so, serve. Never returns."""
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
        serve(source, sink)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
