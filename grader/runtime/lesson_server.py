"""Run the lesson server: it collects one lesson's checks once, for a judge that serves many
submissions.

It is forked from the fork server and reads a lesson's spec and its files. It holds the checks, the
solution, the mistakes and pytest's session, stopped between collecting and running. It forks a
judge, which reads a task for each control socket, runs the checks, and writes the result. After
``TASKS_PER_JUDGE`` tasks a new judge takes over, so that nothing accumulates. A new judge for each
submission would take a fifth longer, because it copies the memory pages that it writes to. No
student's code ever runs here or in a judge.

The second half is for the fork server: start workers, and end them with everything that they
started. A worker is a copy of the fork server, so it has no check, no solution and no submission.
It confines itself, reports its guarantees and limits, and only then reads requests.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import time
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from grader.core.errors import CourseError, SandboxRefused
from grader.core.messages import (
    Answer,
    BrokenCourse,
    BrokerRequest,
    Fault,
    LessonSpec,
    Refused,
    Task,
    WorkerHello,
    WorkerOptions,
    answer_as_json,
)
from grader.course.source import Source
from grader.judge.exception_verdicts import OF_THIS_PROCESS
from grader.judge.remote.workers import ForkedWorkers
from grader.judge.runner import Judge, Judging
from grader.worker.process import open_streams
from grader.worker.sandbox import Prepared, confine
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
    """Read a spec, collect the checks, and fork judges until the control socket ends."""
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
        """Collect the checks and serve. If that fails, answer every task with the reason."""

        def serve() -> Answer:
            Judge(spec).run(self.supervise_judges)
            return Fault("the lesson server ended")

        reason = answer_of(serve)
        self.serve_tasks(lambda *_: reason)

    def supervise_judges(self, judge: Judging) -> NoReturn:
        """Fork a judge, and another whenever one exits with ``RELIEVED``."""
        gc.collect()
        gc.freeze()
        code = RELIEVED
        while code == RELIEVED:
            pid = os.fork()
            if pid == 0:
                self.serve_tasks(judge)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os._exit(code if code >= 0 else BROKEN)

    def serve_tasks(self, judge: Judging) -> NoReturn:
        """Run as a judge: serve tasks until none is left, enough are served, or memory is short."""
        code = BROKEN
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
        """Wait for a control socket, judge a task, write the result, tell the fork server. Return
        False if no further socket will come.
        """
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


@dataclass(frozen=True, slots=True)
class ForkedWorker:
    """The fork server's handle on a worker: its pid, and the judge's ends of its connection and
    output.
    """

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
    from grader.worker.process import serve

    code = 70
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        open_streams()
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
    """Forks workers.

    On request it forks one ahead, which saves 20 to 30 ms of the next submission, for example in
    ``grade watch``. The spare worker is like any other: confined, and without check, solution or
    submission.
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
