"""Run the lesson server: it keeps a judge, which collects one lesson's checks once for many
submissions.

It reads the lesson's spec and forks a judge. That holds the checks, the solution, the mistakes and
pytest's session, stopped between collecting and running. It reads a task for each control socket,
runs the checks, and writes the result. After ``TASKS_PER_JUDGE`` tasks a new judge takes over, so
that nothing accumulates. The judge is forked before it collects: forked later, it would copy most
of the memory that collecting has written to. No student's code ever runs here or in a judge.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import traceback
from collections.abc import Callable
from typing import BinaryIO, NoReturn

from grader.core.errors import CourseError, SandboxRefused
from grader.core.messages import (
    Answer,
    BrokenCourse,
    BrokerRequest,
    Fault,
    LessonSpec,
    Refused,
    Task,
    answer_as_json,
)
from grader.course.source import Source
from grader.judge.exception_verdicts import OF_THIS_PROCESS
from grader.judge.remote.workers import ForkedWorkers
from grader.judge.runner import Judge, Judging
from grader.worker.wire.frames import BrokenFrame, pack, read_body, write_frame

TASKS_PER_JUDGE = 256
ENDED, RELIEVED, BROKEN = 0, 64, 70
"""A judge's exit status: no tasks are left; it served enough or memory is short; an error."""


def answer_of(judge: Callable[[], Answer]) -> Answer:
    """Return the result of ``judge``, or what it raises: a refusal, the course's or our fault."""
    try:
        return judge()
    except SandboxRefused as refusal:
        return Refused(refusal.template, refusal.facts)
    except CourseError as error:
        return BrokenCourse(error.template, error.facts)
    except Exception:
        return Fault(traceback.format_exc())


def lesson_process(control: socket.socket, jobs: BinaryIO, results: BinaryIO) -> NoReturn:
    """Read a spec, and fork judges until the control socket ends."""
    os.setsid()
    server = LessonServer(control, jobs, results)
    try:
        server.run(LessonSpec.from_json(read_body(jobs)))
    except BaseException:
        traceback.print_exc()  # into the fork server's log
    finally:
        os._exit(BROKEN)


class LessonServer:
    """The loops of a lesson server and of its judges."""

    def __init__(self, control: socket.socket, jobs: BinaryIO, results: BinaryIO) -> None:
        self.control = control
        self.jobs = jobs
        self.results = results

    def run(self, spec: LessonSpec) -> NoReturn:
        """Fork a judge, and another whenever one exits with ``RELIEVED``."""
        code = RELIEVED
        while code == RELIEVED:
            pid = os.fork()
            if pid == 0:
                self.judge(spec)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os._exit(code if code >= 0 else BROKEN)

    def judge(self, spec: LessonSpec) -> NoReturn:
        """Collect the checks and serve. If that fails, answer every task with the reason."""

        def serve() -> Answer:
            Judge(spec).run(self.serve_tasks)
            return Fault("the judge ended")

        reason = answer_of(serve)
        self.serve_tasks(lambda *_: reason)

    def serve_tasks(self, judge: Judging) -> NoReturn:
        """Run as a judge: serve tasks until none is left, enough are served, or memory is short."""
        code = BROKEN
        gc.collect()
        gc.freeze()
        try:
            OF_THIS_PROCESS.limit()
            more = True
            for _ in range(TASKS_PER_JUDGE):
                more = self.serve_task(judge)
                if not more or OF_THIS_PROCESS.crowded:
                    break
            code = RELIEVED if more else ENDED
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def serve_task(self, judge: Judging) -> bool:
        """Judge the task that comes with a control socket; return False if no further one comes."""
        data, descriptors, _, _ = socket.recv_fds(self.control, 1, 1)
        if not data or not descriptors:
            return False
        with socket.socket(fileno=descriptors[0]) as line:
            body = read_body(self.jobs)

            def judge_task() -> Answer:
                task = Task.from_json(body)
                workers = ForkedWorkers(
                    line,
                    output_bytes=task.settings.limits.output_bytes,
                    lazy_imports=Source(task.source, task.filename).late_imports,
                )
                return judge(task, workers)

            try:
                write_frame(self.results, answer_as_json(answer_of(judge_task)))
            except BrokenFrame as error:  # over the size limit; nothing has been written yet
                fault = Fault(f"a result that can't be sent: {error}")
                write_frame(self.results, answer_as_json(fault))
            with contextlib.suppress(BrokenPipeError):
                line.sendall(pack(BrokerRequest("done").as_json()))
        return True
