"""The lesson host: one lesson's checks collected once, and a judge forked from it for every submission.

It is a fork of the fork host that has read a lesson's spec: it holds the checks, the solution, the mistakes and pytest's session, stopped
between collecting and running. For each control socket that it is handed it forks a judge; the judge reads its task, runs the
checks, writes its result and ends. No student's code ever runs here or in a judge.

Imports ``judge``, ``workers`` and what lies below.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn

from grader.errors import SandboxRefused
from grader.judge import Begin, Judge
from grader.wire.frames import HEADER, MAX_JSON_BYTES, BrokenFrame, pack, read_body, sizes, unpack, write_frame
from grader.workers import ForkedWorkers

MESSAGE_BYTES = HEADER.size + 4096
assert MESSAGE_BYTES < MAX_JSON_BYTES


def result_of(run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What ``run`` gives; a refusal or a fault of ours is a result as well."""
    try:
        return run()
    except SandboxRefused as refusal:
        return {"refused": str(refusal)}
    except Exception:
        return {"fault": traceback.format_exc()}


def lesson_process(control: socket.socket, jobs: BinaryIO, results: BinaryIO) -> NoReturn:
    """Read a spec, collect the checks, fork judges until the control socket ends. Never returns, neither here nor in a judge."""
    os.setsid()
    court = Court(control, jobs, results)
    try:
        spec = read_body(jobs)
        result = result_of(lambda: Judge(spec).run(court.begin))
        if court.judging is None:  # nothing was forked yet: the checks could not even be collected
            court.wait()
        court.close(result)
    except BaseException:
        traceback.print_exc()  # to the host's log
    finally:
        os._exit(70)


class Court:
    """A lesson host's loop, and afterwards, in a judge, the way to its result."""

    def __init__(self, control: socket.socket, jobs: BinaryIO, results: BinaryIO) -> None:
        self.control = control
        self.jobs = jobs
        self.results = results
        self.judging: ForkedWorkers | None = None

    def begin(self, take: Begin) -> dict[str, Any]:
        """Fork a judge for each control socket; returns in the judges, with their task taken."""
        gc.collect()
        gc.freeze()
        self.wait()
        assert self.judging is not None
        return take(self.task, self.judging)

    def wait(self) -> None:
        """Wait for control sockets and fork; returns in each child, which has read its task. Ends the process at the end."""
        while True:
            data, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE_BYTES, 1)
            if not data or not descriptors:
                os._exit(0)
            pid = os.fork()
            if pid == 0:
                self.control.close()
                text, blob = sizes(data[: HEADER.size])
                options = unpack(data[HEADER.size : HEADER.size + text], data[HEADER.size + text :][:blob]).body
                self.line = socket.socket(fileno=descriptors[0])
                self.judging = ForkedWorkers(self.line, output_bytes=options["output_bytes"])
                self.task = read_body(self.jobs)
                return
            for descriptor in descriptors:
                os.close(descriptor)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def close(self, result: dict[str, Any]) -> NoReturn:
        """Write a judge's result, tell the fork host, end."""
        assert self.judging is not None
        try:
            write_frame(self.results, result)
        except BrokenFrame as error:  # over the cap: nothing has been written yet
            write_frame(self.results, {"fault": f"a result that can't be sent: {error}"})
        self.line.sendall(pack({"do": "done"}))
        os._exit(0)
