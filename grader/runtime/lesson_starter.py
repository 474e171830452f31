"""Start lesson servers: the process that imports pytest and the judge, once for all lessons.

The fork server forks it as soon as torch is imported. From then on the fork server has only what
its workers need, so a worker is never a copy of a process with the judge in memory.
"""

from __future__ import annotations

import gc
import os
import socket
import traceback
from typing import BinaryIO, NoReturn

from grader.core.processes import reap
from grader.runtime.worker_template import share_memory


class LessonStarter:
    """The fork server's handle on that process, which it forks."""

    def __init__(self, jobs: BinaryIO, results: BinaryIO) -> None:
        self._control, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self._control.close()
            starter_process(theirs, jobs, results)
        theirs.close()

    def start(self) -> LessonServerHandle:
        """Have a lesson server forked. It reads the spec that comes next in the jobs."""
        control, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [b"l"], [theirs.fileno()])
        return LessonServerHandle(control)


class LessonServerHandle:
    """The fork server's handle on a lesson server, which ends with this socket."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def send_control(self, control: socket.socket) -> None:
        """Tell the judge to read the next task. It requests workers through ``control``."""
        socket.send_fds(self._control, [b"t"], [control.fileno()])

    def close(self) -> None:
        """Let the lesson server and its judge end when they have no task."""
        self._control.close()


def starter_process(control: socket.socket, jobs: BinaryIO, results: BinaryIO) -> NoReturn:
    """Import what judges need; fork a lesson server for each socket that comes, until none does."""
    code = 70
    try:
        import_judge()
        share_memory()
        from grader.runtime.lesson_server import lesson_process

        while True:
            data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
            reap()
            if not data:
                break
            with socket.socket(fileno=descriptors[0]) as line:
                if os.fork() == 0:
                    control.close()
                    lesson_process(line, jobs, results)
        code = 0
    except BaseException:
        traceback.print_exc()  # into the fork server's log
    finally:
        os._exit(code)


def import_judge() -> None:
    """Import pytest and the judge, and keep them out of garbage collection (``gc.freeze``)."""
    gc.disable()
    import pytest  # noqa: F401
    import pytest_jsonreport.plugin  # noqa: F401
    import torch.testing  # noqa: F401

    import grader.authoring
    import grader.judge.runner
    import grader.runtime.lesson_server

    grader.judge.runner.warm_up()
    gc.freeze()
    gc.enable()
