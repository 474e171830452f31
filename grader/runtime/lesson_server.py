"""The lesson host: one lesson's checks collected once, and a judge forked from it that serves
submission after submission.

It is a fork of the fork host that has read a lesson's spec: it holds the checks, the solution, the
mistakes and pytest's session, stopped between collecting and running. The judge that it forks reads
a task for each control socket that comes, runs the checks, and writes the result; after
``TASKS_A_JUDGE`` of them it makes room for a fresh one, so that nothing can pile up. That a judge
is not forked for every submission spares it copying the pages that it writes to, again and again,
which costs more than most checks. No student's code ever runs here or in a judge.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn

from grader.core.errors import SandboxRefused
from grader.judge.remote.worker_sources import ForkedWorkers
from grader.judge.runner import Judge, Judging
from grader.worker.wire.frames import (
    HEADER,
    MAX_JSON_BYTES,
    BrokenFrame,
    pack,
    read_body,
    sizes,
    unpack,
    write_frame,
)

MESSAGE_BYTES = HEADER.size + 4096
assert MESSAGE_BYTES < MAX_JSON_BYTES
TASKS_A_JUDGE = 256
ENDED, RELIEVED, BROKEN = 0, 64, 70
"""With what a judge exits: there are no more tasks, it has served its time, something went wrong.
"""


def result_of(run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What ``run`` gives; a refusal or a fault of ours is a result as well."""
    try:
        return run()
    except SandboxRefused as refusal:
        return {"refused": {"template": refusal.template, "facts": refusal.facts}}
    except Exception:
        return {"fault": traceback.format_exc()}


def lesson_process(control: socket.socket, jobs: BinaryIO, results: BinaryIO) -> NoReturn:
    """Read a spec, collect the checks, have judges serve until the control socket ends. Never
    returns.
    """
    os.setsid()
    court = LessonServer(control, jobs, results)
    try:
        spec = read_body(jobs)
        court.open(Judge(spec))
    except BaseException:
        traceback.print_exc()  # to the host's log
    finally:
        os._exit(BROKEN)


class LessonServer:
    """A lesson host's loop, and its judges'."""

    def __init__(self, control: socket.socket, jobs: BinaryIO, results: BinaryIO) -> None:
        self.control = control
        self.jobs = jobs
        self.results = results

    def open(self, judge: Judge) -> NoReturn:
        """Collect the checks and serve; where they can't be collected, every task is told why.
        Never returns.
        """
        try:
            judge.run(self.relay)
        except Exception:
            fault = {"fault": traceback.format_exc()}
            self.sit(lambda *_: fault)
        os._exit(BROKEN)

    def relay(self, judge: Judging) -> NoReturn:
        """Fork a judge, and the next when it is relieved. Never returns."""
        gc.collect()
        gc.freeze()
        code = RELIEVED
        while code == RELIEVED:
            pid = os.fork()
            if pid == 0:
                self.sit(judge)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os._exit(code if code >= 0 else BROKEN)

    def sit(self, judge: Judging) -> NoReturn:
        """Be the judge: serve tasks until there are no more, or it was enough. Never returns."""
        code = BROKEN
        try:
            for _ in range(TASKS_A_JUDGE):
                if not self.serve(judge):
                    code = ENDED
                    break
            else:
                code = RELIEVED
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def serve(self, judge: Judging) -> bool:
        """Wait for a control socket, read a task, judge it, write the result, tell the fork host;
        False where none will come.
        """
        data, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE_BYTES, 1)
        if not data or not descriptors:
            return False
        text, blob = sizes(data[: HEADER.size])
        options = unpack(
            data[HEADER.size : HEADER.size + text], data[HEADER.size + text :][:blob]
        ).body
        with socket.socket(fileno=descriptors[0]) as line:
            task = read_body(self.jobs)
            result = result_of(
                lambda: judge(task, ForkedWorkers(line, output_bytes=options["output_bytes"]))
            )
            try:
                write_frame(self.results, result)
            except BrokenFrame as error:  # over the cap: nothing has been written yet
                write_frame(self.results, {"fault": f"a result that can't be sent: {error}"})
            with contextlib.suppress(BrokenPipeError):
                line.sendall(pack({"do": "done"}))
        return True
