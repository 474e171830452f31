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

Imports everything that the judge imports, for the judge's sake; ``worker`` and ``sandbox``; nothing of the supervisor's.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from grader.sandbox import adopt_orphans, confine
from grader.sandbox.limits import Limits
from grader.wire.frames import BrokenFrame, pack, read_frame, write_frame
from grader.workers import WorkerSource

GRACE_SECONDS = 60.0
"""How much longer than the lesson's limit a judge may take before it counts as hung, by our own fault."""


def main() -> None:
    """Serve jobs until standard input ends. ``argv``: ``fork`` or ``spawn``."""
    mode = sys.argv[1]
    jobs = cast(BinaryIO, os.fdopen(os.dup(0), "rb", buffering=0))
    results = cast(BinaryIO, os.fdopen(os.dup(1), "wb"))
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(2, 1)
    warm_up()
    if mode == "fork":
        adopt_orphans()
    serve = serve_forked if mode == "fork" else serve_inline
    while (envelope := read_frame(jobs)) is not None:
        serve(jobs, results, Limits.from_dict(envelope.body["limits"]), envelope.body["sandbox"])
        write_frame(results, {"clean": True})


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
    """Read a job and judge it; a fault of ours is a result as well."""
    from grader.judge import judge

    frame = read_frame(jobs)
    assert frame is not None, "an envelope without its job"
    try:
        return judge(frame.body, workers)
    except Exception:
        return {"fault": traceback.format_exc()}


def serve_inline(jobs: BinaryIO, results: BinaryIO, limits: Limits, sandbox: str) -> None:
    """A job where there is no fork: judged here, with workers that are plain processes."""
    from grader.workers import SpawnedWorkers

    workers = SpawnedWorkers(output_bytes=limits.output_bytes, sandbox_options=[sandbox])
    write_frame(results, judged(jobs, workers))


def serve_forked(jobs: BinaryIO, results: BinaryIO, limits: Limits, sandbox: str) -> None:
    """A job by a forked judge; serves the judge until it is done, then leaves nothing of it behind."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        judge_process(theirs, jobs, results, limits)
    theirs.close()
    ours.settimeout(limits.lesson_seconds + GRACE_SECONDS)
    done = False
    try:
        with ours, cast(BinaryIO, ours.makefile("rb")) as requests:
            done = serve_judge(ours, requests, limits, sandbox)
    except (OSError, BrokenFrame) as error:
        print(f"the judge did not finish: {type(error).__name__}: {error}", file=sys.stderr)
    finally:
        kill_everything()
    if not done:
        # The job may be half read and the result half written: only a new host is sure to be in step.
        sys.exit(70)


def serve_judge(control: socket.socket, requests: BinaryIO, limits: Limits, sandbox: str) -> bool:
    """Start and end workers as the judge asks; True once it said that it is done, False where it ended without."""
    while (frame := read_frame(requests)) is not None:
        request = frame.body
        if request["do"] == "start":
            start_worker(control, limits, sandbox)
        elif request["do"] == "end":
            control.sendall(pack(end_worker(request["pid"], died=request["died"])))
        else:
            return True
    return False


def start_worker(control: socket.socket, limits: Limits, sandbox: str) -> None:
    """Fork a worker and give the judge its line, its output and its pid."""
    line, far_line = socket.socketpair()
    output, far_output = os.pipe()
    pid = os.fork()
    if pid == 0:
        worker_process(far_line.fileno(), far_output, limits, sandbox)
    far_line.close()
    os.close(far_output)
    socket.send_fds(control, [b"w"], [line.fileno(), output])
    control.sendall(pack(pid))
    line.close()
    os.close(output)


def worker_process(line: int, output: int, limits: Limits, sandbox: str) -> NoReturn:
    """What a forked worker does: confine itself, say so, serve. Never returns."""
    from grader.worker import serve

    code = 70
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = (os.fdopen(fd, "w", 1, "utf-8", "backslashreplace") for fd in (1, 2))
        sink = cast(BinaryIO, os.fdopen(os.dup(line), "wb"))
        source = cast(BinaryIO, os.fdopen(line, "rb"))
        try:
            held, missing = confine(limits, mode=sandbox, keep={source.fileno(), sink.fileno()})
        except OSError as error:
            write_frame(sink, {"fault": f"the sandbox could not be set up: {error}"})
            os._exit(code)
        write_frame(sink, {"guarantees": held, "missing": missing})
        serve(source, sink)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def judge_process(control: socket.socket, jobs: BinaryIO, results: BinaryIO, limits: Limits) -> NoReturn:
    """What a forked judge does: judge, write the result, say that it is done. Never returns."""
    from grader.workers import ForkedWorkers

    code = 70
    try:
        workers = ForkedWorkers(control, output_bytes=limits.output_bytes)
        write_frame(results, judged(jobs, workers))
        workers.finish()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def end_worker(pid: int, *, died: bool) -> int | None:
    """Kill a worker and its group; the status with which it had ended by itself, if it had.

    ``died`` says that its line had ended: then it is given a moment to become a status.
    """
    until = time.monotonic() + (1.0 if died else 0.0)
    status: int | None = None
    while status is None:
        with contextlib.suppress(ChildProcessError):
            ended, code = os.waitpid(pid, os.WNOHANG)
            status = code if ended else None
        if time.monotonic() >= until:
            break
        if status is None:
            time.sleep(0.001)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    if status is None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    return status


def children() -> list[int]:
    """The pids of this process's children, orphans that it adopted included (Linux; elsewhere none are known)."""
    path = Path(f"/proc/self/task/{os.getpid()}/children")
    try:
        return [int(pid) for pid in path.read_text().split()]
    except OSError:
        return []


def kill_everything() -> None:
    """Kill and reap every process that this job left: what forked twice or began a session of its own has become our child."""
    while pids := children():
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
