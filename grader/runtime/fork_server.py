"""Run the torch process, which imports torch once for all other processes, and its forks, the fork
servers, from which workers are forked.

For each job the supervisor writes up to three messages to a fork server's connection, which is a
socket (a worker of the same user could open a pipe again through /proc). The fork server reads the
*envelope*, a lesson server (``lesson_server``) the lesson's *spec*, which comes only once, and a
judge the *task*. A judge serves many tasks and writes its results to the connection itself::

    supervisor ──envelope──▶ fork server ──fork──▶ lesson starter ──fork──▶ lesson server
        │ ├──────────spec───────────┼───────────────────────────────────────▶     │
        │ └──────────task───────────┼───────────────────────────────▶ judge ◀──fork
        │                           └──fork──▶ worker ◀─socket, output──┤
        ◀───────────────────────────────result──────────────────────────┘

When no process of the job is left, the fork server writes one more frame, which ends the job. It
never has a check, a solution, a submission or a result in memory, nor has its copy, a worker. It
also imports nothing of the judge: the lesson starter does (``lesson_starter``). What is the same
for all workers is done here once, before the first is forked (``worker_template``,
``worker.sandbox.prepare``).

The fork server runs no torch operation: a fork of a process that ever ran a parallel region hangs,
and autograd before a fork breaks children on systems with an accelerator. Modules that torch loads
lazily are imported before the first fork; those for function transforms, optimizers and checkpoints
take up to a second, so before the first worker for which a judge asks for them
(``Source.late_imports``).

Without fork (``spawn``) this process judges, and workers are plain processes.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
import traceback
from typing import BinaryIO, NoReturn, cast

from grader.core.limits import MAX_STARVED, Limits
from grader.core.messages import (
    BrokerRequest,
    Envelope,
    LessonSpec,
    Task,
    WorkerEnd,
    WorkerOptions,
    answer_as_json,
)
from grader.core.processes import reap
from grader.runtime import OWN_SESSION
from grader.runtime.forked_workers import WorkerStarter, end_worker, kill_everything
from grader.runtime.lesson_starter import LessonServerHandle, LessonStarter, import_judge
from grader.runtime.worker_template import become_template
from grader.worker.sandbox import MONITOR_SECONDS, adopt_orphans, hide, overuse, prepare
from grader.worker.sandbox.scratch import clear_folder, enter_namespace, remove_scratch
from grader.worker.wire.compat import LATE_IMPORTS, import_for_gradcheck
from grader.worker.wire.frames import BrokenFrame, pack, read_body, read_frame, write_frame

GRACE_SECONDS = 60.0
"""How much longer than ``longest`` a judge may take before it counts as hung."""


def longest(limits: Limits) -> float:
    """Return how many seconds a lesson may take, with a busy host's extension and with figures."""
    return limits.lesson_seconds + MAX_STARVED + limits.call_seconds


def main() -> NoReturn:
    """Serve jobs on standard input until it ends (mode ``spawn``), or fork a fork server for each
    connection that comes there (mode ``fork``).
    """
    stream, devnull = os.dup(0), os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    if sys.argv[1] == "fork":
        with socket.socket(fileno=stream) as connections:
            fork_for_each(connections)
    else:
        jobs = cast(BinaryIO, os.fdopen(stream, "rb", buffering=0))
        results = cast(BinaryIO, os.fdopen(os.dup(1), "wb"))
        os.dup2(2, 1)
        hide()
        import_torch()
        import_judge()
        serve_inline(jobs, results)
    os._exit(0)  # tearing torch down takes longer than judging, and there is nothing left to save


def fork_for_each(connections: socket.socket) -> None:
    """Import torch; fork a fork server for each connection, until none can come. Ctrl-C on a
    terminal ends those whose job it is, and this process ends with its supervisor.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    may_mount = enter_namespace()
    hide()
    import_torch()
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    while True:
        kind, descriptors, _, _ = socket.recv_fds(connections, 1, 2)
        if not kind:
            break
        if os.fork() == 0:
            connections.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            forked_server(*descriptors, own_session=kind == OWN_SESSION, may_mount=may_mount)
        for descriptor in descriptors:
            os.close(descriptor)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def forked_server(connection: int, log: int, *, own_session: bool, may_mount: bool) -> NoReturn:
    """Run as a fork server on a connection; say first which process this is."""
    code = 70
    try:
        for stream in (1, 2):
            os.dup2(log, stream)
        os.close(log)
        if own_session:
            os.setsid()
        jobs = cast(BinaryIO, os.fdopen(os.dup(connection), "rb", buffering=0))
        results = cast(BinaryIO, os.fdopen(connection, "wb"))
        write_frame(results, {"pid": os.getpid()})
        serve_forks(jobs, results, may_mount=may_mount and enter_namespace())
        code = 0
    except SystemExit as ended:
        code = cast(int, ended.code)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def import_torch() -> None:
    """Import what workers and judges need, and keep it out of garbage collection
    (``gc.freeze``).
    """
    gc.disable()
    import torch

    import_for_gradcheck()
    torch.set_num_threads(1)
    gc.freeze()
    gc.enable()


_imported_late: set[str] = set()
"""The modules that ``import_late`` has tried."""


def import_late() -> None:
    """Import what torch imports late in the same way. No operation runs, no thread starts."""
    gc.disable()
    for name in LATE_IMPORTS:
        _imported_late.add(name)
        # in another torch it may be elsewhere; then each worker imports what it needs itself
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.freeze()
    gc.enable()


def serve_inline(jobs: BinaryIO, results: BinaryIO) -> None:
    """Judge in this process, with workers that are plain processes, on systems without fork."""
    from grader.judge.remote.workers import SpawnedWorkers
    from grader.judge.runner import judge_once
    from grader.runtime.lesson_server import answer_of

    specs: dict[str, LessonSpec] = {}
    sources: dict[WorkerOptions, SpawnedWorkers] = {}
    try:
        while (frame := read_frame(jobs)) is not None:
            job = Envelope.from_json(frame.body)
            if job.new:
                specs[job.lesson] = LessonSpec.from_json(read_body(jobs))
            task, spec = Task.from_json(read_body(jobs)), specs[job.lesson]
            workers = sources.setdefault(job.options, SpawnedWorkers(job.options))
            answer = answer_of(functools.partial(judge_once, spec, task, workers))
            write_frame(results, answer_as_json(answer))
            write_frame(results, {"clean": True})
            if job.options.prestart:
                workers.make_spare()
    finally:
        for source in sources.values():
            source.drop_spare()


def serve_forks(jobs: BinaryIO, results: BinaryIO, *, may_mount: bool) -> None:
    """Serve one job after another; a submission's processes are gone before the next begins."""
    adopt_orphans()
    starter = LessonStarter(jobs, results)
    prepared = prepare(mount=may_mount)
    become_template()
    workers = WorkerStarter(prepared)
    lessons: dict[str, LessonServerHandle] = {}
    try:
        while (frame := read_frame(jobs)) is not None:
            job = Envelope.from_json(frame.body)
            for key in job.finished:
                lessons.pop(key).close()
            if job.new:
                lessons[job.lesson] = starter.start()
                workers.make_spare(job.options)  # while it collects the checks
            if not serve_job(lessons[job.lesson], starter.pid, job.options, workers, jobs):
                # The job may be half read, or the result half written. Only a new process is in
                # step.
                sys.exit(70)
            write_frame(results, {"clean": True})
    finally:
        workers.drop_spare()
        kill_everything()
        remove_scratch(prepared.scratch)


def serve_job(
    lesson: LessonServerHandle,
    starter_pid: int,
    options: WorkerOptions,
    workers: WorkerStarter,
    jobs: BinaryIO,
) -> bool:
    """Let a judge take the next task, and serve it; return whether it finished."""
    ours, theirs = socket.socketpair()
    try:
        lesson.send_control(theirs)
        theirs.close()
        with ours:
            done = WorkerBroker(ours, options, workers, jobs).serve_until_done()
    except (OSError, BrokenFrame) as error:
        print(f"the judge did not finish: {type(error).__name__}: {error}", file=sys.stderr)
        done = False
    kill_everything(spare={starter_pid} | workers.spare_pids)
    clear_folder(workers.prepared.scratch)
    return done


class WorkerBroker:
    """Starts, ends and monitors workers at a judge's request."""

    def __init__(
        self, control: socket.socket, options: WorkerOptions, workers: WorkerStarter, jobs: BinaryIO
    ) -> None:
        self.control = control
        self.jobs = jobs
        self.options = options
        self.workers = workers
        self.prepared = workers.prepared
        self.overuse: dict[int, tuple[str, int]] = {}
        self.worker_pid: int | None = None

    def serve_until_done(self) -> bool:
        """Serve a judge. Return True when it is done, False if it ends or hangs first, or if the
        supervisor ends: nobody waits for the result then.
        """
        deadline = time.monotonic() + longest(self.options.limits) + GRACE_SECONDS
        ready = select.poll()
        ready.register(self.control, select.POLLIN)
        ready.register(self.jobs, select.POLLRDHUP)  # what it holds is the judge's
        # unbuffered, because poll does not see data in a buffer
        with cast(BinaryIO, self.control.makefile("rb", buffering=0)) as requests:
            while time.monotonic() < deadline:
                events = dict(ready.poll(MONITOR_SECONDS * 1000))
                if self.jobs.fileno() in events:
                    return False
                if not events:
                    self.kill_if_overusing()
                    continue
                frame = read_frame(requests)
                if frame is None:
                    return False
                request = BrokerRequest.from_json(frame.body)
                if request.do == "done":
                    return True
                if request.do == "start":
                    if request.lazy_imports and not _imported_late.issuperset(LATE_IMPORTS):
                        self.workers.drop_spare()
                        import_late()
                    self.start_worker()
                else:
                    self.stop_worker(request.pid, died=request.died)
        return False

    def kill_if_overusing(self) -> None:
        """Kill the worker if it exceeds a limit that the kernel does not enforce."""
        pid = self.worker_pid
        if pid is None or pid in self.overuse or self.options.sandbox == "off":
            return
        mounted = self.prepared.mounted and "mount" not in self.options.without
        reason = overuse(pid, self.prepared.scratch, self.options.limits, mounted=mounted)
        if reason is not None:
            self.overuse[pid] = reason
            os.kill(pid, signal.SIGKILL)

    def start_worker(self) -> None:
        """Fork a worker and send the judge its connection, its output and its pid."""
        worker = self.workers.start(self.options)
        self.worker_pid = worker.pid
        socket.send_fds(self.control, [b"w"], [worker.line.fileno(), worker.output])
        self.control.sendall(pack(worker.pid))
        worker.close()
        if self.options.prestart:  # while this one is judged
            self.workers.make_spare(self.options)

    def stop_worker(self, pid: int, *, died: bool) -> None:
        """End a worker. If it ``died`` by itself, tell the judge how."""
        self.kill_if_overusing()
        status = end_worker(pid, died=died)
        clear_folder(self.prepared.scratch)
        self.worker_pid = None
        if died:
            self.control.sendall(pack(WorkerEnd(status, self.overuse.get(pid)).as_json()))
