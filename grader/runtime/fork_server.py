"""The fork host: the process in which torch is imported once, for everything that comes after.

For each job the supervisor writes to the host's standard input an *envelope* (limits, sandbox,
which lesson, whether the submission needs what torch imports late), which the host reads; the
lesson's *spec* where the host has not had it, which the host leaves to a lesson host that it forks;
and the *task* (the submission, the seed), which is left to a judge. A lesson host (``lesson_host``)
has collected the lesson's checks and forks a judge that serves many tasks. A judge asks the fork
host for workers, and writes its result to standard output itself::

    supervisor ─envelope─▶ fork host ──fork──▶ lesson host ──fork──▶ judge ──"start"──▶ fork host ──fork──▶ worker
        │ └──────spec────────────────────────────▶ │                 │ ▲                                     │
        │ └──────task──────────────────────────────────────────────▶ │ └────────── socket, output ───────────┘
        ◀────────result──────────────────────────────────────────────┘

When nothing of the job is left, the host closes it with a frame of its own.

So no check, no solution, no submission and no result is ever in the fork host's memory, and a
worker, which is its copy, has none either. The host runs no torch operation: a fork of a process
that ever ran a parallel region hangs, and autograd before a fork breaks children where there is an
accelerator. What torch loads lazily is imported before the first fork; what it loads for function
transforms and optimizers, before the first worker that needs it (``late_imports``).

Without fork (``spawn``) the host judges in its own process, and workers are plain processes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time
from typing import Any, BinaryIO, NoReturn, cast

from grader.core.limits import Limits
from grader.runtime import lazy_imports
from grader.runtime.fork_worker import WorkerOptions, fork_worker
from grader.runtime.reaper import end_worker, kill_everything
from grader.worker.sandbox import (
    Prepared,
    adopt_orphans,
    clear_scratch,
    monitor,
    prepare,
    remove_scratch,
)
from grader.worker.wire.compat import import_for_gradcheck
from grader.worker.wire.frames import BrokenFrame, pack, read_body, read_frame, write_frame

GRACE_SECONDS = 60.0
"""How much longer than the lesson's limit a judge may take before it counts as hung, by our own
fault.
"""


def main() -> NoReturn:
    """Serve jobs until standard input ends. Never returns. ``argv``: ``fork`` or ``spawn``."""
    jobs = cast(BinaryIO, os.fdopen(os.dup(0), "rb", buffering=0))
    results = cast(BinaryIO, os.fdopen(os.dup(1), "wb"))
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(2, 1)
    warm_up()
    serve = serve_forks if sys.argv[1] == "fork" else serve_inline
    serve(jobs, results)
    os._exit(0)  # taking torch apart takes longer than judging, and nothing is left to be saved


def warm_up() -> None:
    """Import what judge and worker need, gradcheck's lazy imports included; freeze it all for the
    collector, which has a rest meanwhile.
    """
    gc.disable()
    import pytest  # noqa: F401
    import pytest_jsonreport.plugin  # noqa: F401
    import torch
    import torch.testing

    import grader.authoring
    import grader.judge.runner
    import grader.runtime.lesson_server

    import_for_gradcheck()
    torch.set_num_threads(1)
    grader.judge.runner.warm_up()
    grader.authoring.load_all()  # a scenario can't read the engine's files from inside the sandbox
    gc.freeze()
    gc.enable()


def serve_inline(jobs: BinaryIO, results: BinaryIO) -> None:
    """Jobs where there is no fork: judged here, with workers that are plain processes."""
    from grader.judge.remote.worker_sources import SpawnedWorkers
    from grader.judge.runner import judged_once
    from grader.runtime.lesson_server import result_of

    specs: dict[str, Any] = {}
    sources: dict[WorkerOptions, SpawnedWorkers] = {}
    try:
        while (envelope := read_frame(jobs)) is not None:
            terms = WorkerOptions.from_dict(envelope.body)
            if envelope.body["new"]:
                specs[envelope.body["lesson"]] = read_body(jobs)
            workers = sources.setdefault(terms, SpawnedWorkers(terms.limits, terms.sandbox))
            task, spec = read_body(jobs), specs[envelope.body["lesson"]]
            write_frame(results, result_of(lambda: judged_once(spec, task, workers)))  # noqa: B023 - called at once
            write_frame(results, {"clean": True})
            if terms.ahead:
                workers.make_spare()
    finally:
        for source in sources.values():
            source.drop_spare()


def serve_forks(jobs: BinaryIO, results: BinaryIO) -> None:
    """Jobs, one after another; no process of a submission is left when the next begins."""
    adopt_orphans()
    prepared = prepare()
    lessons: dict[str, LessonServerHandle] = {}
    try:
        while (envelope := read_frame(jobs)) is not None:
            terms = WorkerOptions.from_dict(envelope.body)
            if envelope.body["new"]:
                lessons[envelope.body["lesson"]] = LessonServerHandle(jobs, results)
            if envelope.body["late_imports"] and not lazy_imports.loaded():
                lazy_imports.load()
            if not serve_job(
                lessons[envelope.body["lesson"]],
                {lesson.pid for lesson in lessons.values()},
                terms,
                prepared,
            ):
                # The job may be half read and the result half written. A new host is in step.
                sys.exit(70)
            write_frame(results, {"clean": True})
    finally:
        for lesson in lessons.values():
            lesson.close()
        kill_everything()
        remove_scratch(prepared)


def serve_job(
    lesson: LessonServerHandle, lesson_pids: set[int], terms: WorkerOptions, prepared: Prepared
) -> bool:
    """Have a judge take the next task and serve it until it is done; whether it was."""
    ours, theirs = socket.socketpair()
    try:
        lesson.judge(theirs, terms.limits)
        theirs.close()
        with ours:
            done = WorkerBroker(ours, terms, prepared).serve()
    except (OSError, BrokenFrame) as error:
        print(f"the judge did not finish: {type(error).__name__}: {error}", file=sys.stderr)
        done = False
    if not done:
        lesson.close()
    kill_everything(spare=lesson_pids)
    clear_scratch(prepared)
    return done


class LessonServerHandle:
    """The fork host's end of a lesson host: its judge serves a task for each control socket that it
    is handed.
    """

    def __init__(self, jobs: BinaryIO, results: BinaryIO) -> None:
        from grader.runtime.lesson_server import lesson_process

        self._control, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self._control.close()
            lesson_process(theirs, jobs, results)
        theirs.close()

    def judge(self, control: socket.socket, limits: Limits) -> None:
        """Have the judge read the next task; it asks for workers through ``control``."""
        socket.send_fds(
            self._control, [pack({"output_bytes": limits.output_bytes})], [control.fileno()]
        )

    def close(self) -> None:
        """End the lesson host, and a judge that hangs."""
        self._control.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


class WorkerBroker:
    """What a judge's requests are served with: starts and ends its workers, and watches them
    meanwhile.
    """

    def __init__(self, control: socket.socket, terms: WorkerOptions, prepared: Prepared) -> None:
        self.control = control
        self.terms = terms
        self.prepared = prepared
        self.overused: dict[int, tuple[str, int]] = {}
        self.living: int | None = None

    def serve(self) -> bool:
        """Serve until the judge says that it is done (True) or ends without (False)."""
        deadline = time.monotonic() + self.terms.limits.lesson_seconds + GRACE_SECONDS
        with cast(
            BinaryIO, self.control.makefile("rb", buffering=0)
        ) as requests:  # select would see nothing of what a buffer holds
            while time.monotonic() < deadline:
                if not select.select([self.control], [], [], monitor.SECONDS)[0]:
                    self.look_after()
                    continue
                frame = read_frame(requests)
                if frame is None:
                    return False
                if frame.body["do"] == "done":
                    return True
                if frame.body["do"] == "start":
                    self.start()
                else:
                    self.end(frame.body["pid"], died=frame.body["died"])
        return False

    def look_after(self) -> None:
        """Kill the worker where it uses more than it may of what no kernel limit counts."""
        if self.living is None or self.living in self.overused or self.terms.sandbox == "off":
            return
        reason = monitor.overuse(self.living, self.prepared.scratch, self.terms.limits)
        if reason is not None:
            self.overused[self.living] = reason
            os.kill(self.living, signal.SIGKILL)

    def start(self) -> None:
        """Fork a worker and give the judge its line, its output and its pid."""
        worker = fork_worker(self.terms, self.prepared)
        self.living = worker.pid
        socket.send_fds(self.control, [b"w"], [worker.line.fileno(), worker.output])
        self.control.sendall(pack(worker.pid))
        worker.let_go()

    def end(self, pid: int, *, died: bool) -> None:
        """End a worker; where it ``died``, tell the judge with what status, and what it had used
        too much of, if so.
        """
        self.look_after()
        status = end_worker(pid, died=died)
        clear_scratch(self.prepared)
        self.living = None
        if died:
            self.control.sendall(pack({"status": status, "overuse": self.overused.get(pid)}))
