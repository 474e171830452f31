"""The fork host: the process in which torch is imported once, for everything that comes after.

For each job the supervisor writes two frames to the host's standard input: an *envelope* (limits, sandbox), which the host reads, and
the *job* (the submission, where the checks are, the seed), which the host leaves to the judge that it forks. The judge reads the
job, asks the host for workers, and writes its result to standard output itself::

    supervisor ──envelope──▶ host ──fork──▶ judge ──"start"──▶ host ──fork──▶ worker
        │  └───────────job─────────────────▶  │                                 │
        ◀──────────result─────────────────────┘ ◀────── socket, output ─────────┘

When nothing of the job is left, the host closes it with a frame of its own.

So no check, no solution, no submission and no result is ever in the host's memory, and a worker, which is its copy, has none
either. The host runs no torch operation: a fork of a process that ever ran a parallel region hangs, and autograd before a fork
breaks children where there is an accelerator. What torch loads lazily is imported before the first fork.

Without fork (``spawn``) the host judges in its own process, and workers are plain processes.

Imports everything that the judge imports, for the judge's sake; ``worker``, ``sandbox`` and ``reaper``; nothing of the supervisor's.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, cast

from grader.reaper import end_worker, kill_everything
from grader.sandbox import Prepared, adopt_orphans, confine, discard, empty_scratch, prepare, watch
from grader.sandbox.limits import Limits
from grader.wire.frames import BrokenFrame, pack, read_frame, write_frame
from grader.workers import WorkerSource

GRACE_SECONDS = 60.0
"""How much longer than the lesson's limit a judge may take before it counts as hung, by our own fault."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What an envelope says of a job: how its workers are to be confined. ``without`` leaves layers of the sandbox away."""

    limits: Limits
    sandbox: str
    without: tuple[str, ...]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Terms:
        """Terms from plain data."""
        return cls(Limits.from_dict(data["limits"]), data["sandbox"], tuple(data["without"]))


def main() -> None:
    """Serve jobs until standard input ends. ``argv``: ``fork`` or ``spawn``."""
    jobs = cast(BinaryIO, os.fdopen(os.dup(0), "rb", buffering=0))
    results = cast(BinaryIO, os.fdopen(os.dup(1), "wb"))
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(2, 1)
    warm_up()
    serve = serve_forks if sys.argv[1] == "fork" else serve_inline
    serve(jobs, results)


def warm_up() -> None:
    """Import what judge and worker need, gradcheck's lazy imports included; freeze it all for the collector."""
    import pytest  # noqa: F401
    import pytest_jsonreport.plugin  # noqa: F401
    import torch
    import torch.fx.experimental.symbolic_shapes
    import torch.testing

    import grader.judge
    import grader.worker

    torch.set_num_threads(1)
    grader.judge.warm_up()
    gc.collect()
    gc.freeze()


def judged(jobs: BinaryIO, workers: WorkerSource) -> Any:
    """Read a job and judge it; a refusal or a fault of ours is a result as well."""
    from grader.errors import SandboxRefused
    from grader.judge import judge

    frame = read_frame(jobs)
    assert frame is not None, "an envelope without its job"
    try:
        return judge(frame.body, workers)
    except SandboxRefused as refusal:
        return {"refused": str(refusal)}
    except Exception:
        return {"fault": traceback.format_exc()}


def serve_inline(jobs: BinaryIO, results: BinaryIO) -> None:
    """Jobs where there is no fork: judged here, with workers that are plain processes."""
    from grader.workers import SpawnedWorkers

    while (envelope := read_frame(jobs)) is not None:
        write_frame(results, judged(jobs, SpawnedWorkers(Terms.from_dict(envelope.body).limits, envelope.body["sandbox"])))
        write_frame(results, {"clean": True})


def serve_forks(jobs: BinaryIO, results: BinaryIO) -> None:
    """Jobs, each by a forked judge; nothing of one is left when the next begins."""
    adopt_orphans()
    prepared = prepare()
    try:
        while (envelope := read_frame(jobs)) is not None:
            terms = Terms.from_dict(envelope.body)
            if not serve_job(jobs, results, terms, prepared):
                sys.exit(70)  # the job may be half read and the result half written: only a new host is sure to be in step
            write_frame(results, {"clean": True})
    finally:
        discard(prepared)


def serve_job(jobs: BinaryIO, results: BinaryIO, terms: Terms, prepared: Prepared) -> bool:
    """Fork a judge and serve it until it is done; whether it was."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        judge_process(theirs, jobs, results, terms)
    theirs.close()
    try:
        with ours, cast(BinaryIO, ours.makefile("rb")) as requests:
            return Workshop(ours, requests, terms, prepared).serve()
    except (OSError, BrokenFrame) as error:
        print(f"the judge did not finish: {type(error).__name__}: {error}", file=sys.stderr)
        return False
    finally:
        kill_everything()
        empty_scratch(prepared)


class Workshop:
    """What a judge's requests are served with: starts and ends its workers, and watches them meanwhile."""

    def __init__(self, control: socket.socket, requests: BinaryIO, terms: Terms, prepared: Prepared) -> None:
        self.control = control
        self.requests = requests
        self.terms = terms
        self.prepared = prepared
        self.overused: dict[int, str] = {}
        self.living: int | None = None

    def serve(self) -> bool:
        """Serve until the judge says that it is done (True) or ends without (False)."""
        deadline = time.monotonic() + self.terms.limits.lesson_seconds + GRACE_SECONDS
        while time.monotonic() < deadline:
            if not select.select([self.control], [], [], watch.SECONDS)[0]:
                self.look_after()
                continue
            frame = read_frame(self.requests)
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
        reason = watch.overuse(self.living, self.prepared.scratch, self.terms.limits)
        if reason is not None:
            self.overused[self.living] = reason
            os.kill(self.living, signal.SIGKILL)

    def start(self) -> None:
        """Fork a worker and give the judge its line, its output and its pid."""
        line, far_line = socket.socketpair()
        output, far_output = os.pipe()
        pid = os.fork()
        if pid == 0:
            worker_process(far_line.fileno(), far_output, self.terms, self.prepared)
        self.living = pid
        far_line.close()
        os.close(far_output)
        socket.send_fds(self.control, [b"w"], [line.fileno(), output])
        self.control.sendall(pack(pid))
        line.close()
        os.close(output)

    def end(self, pid: int, *, died: bool) -> None:
        """End a worker; tell the judge with what status it had ended by itself, and what it had used too much of, if so."""
        self.look_after()
        status = end_worker(pid, died=died)
        empty_scratch(self.prepared)
        self.living = None
        self.control.sendall(pack({"status": status, "overuse": self.overused.get(pid)}))


def worker_process(line: int, output: int, terms: Terms, prepared: Prepared) -> NoReturn:
    """What a forked worker does: confine itself, say so, serve. Never returns."""
    from grader.worker import serve

    code = 70
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = (os.fdopen(fd, "w", 1, "utf-8", "backslashreplace") for fd in (1, 2))
        sink = cast(BinaryIO, os.fdopen(os.dup(line), "wb"))
        source = cast(BinaryIO, os.fdopen(line, "rb"))
        held, missing = confine(terms.limits, prepared, mode=terms.sandbox, keep={source.fileno(), sink.fileno()}, without=terms.without)
        write_frame(sink, {"guarantees": held, "missing": missing, "mode": terms.sandbox})
        serve(source, sink)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def judge_process(control: socket.socket, jobs: BinaryIO, results: BinaryIO, terms: Terms) -> NoReturn:
    """What a forked judge does: judge, write the result, say that it is done. Never returns."""
    from grader.workers import ForkedWorkers

    code = 70
    try:
        workers = ForkedWorkers(control, output_bytes=terms.limits.output_bytes)
        write_frame(results, judged(jobs, workers))
        workers.finish()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
