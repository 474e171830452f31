"""Measure the cost of the process border: from a worker's fork to its first answer, and one further
call with a small tensor.

    python tests/benchmarks/border.py [--rounds N]

The script imports what the fork server imports and forks confined workers, as the fork server does.
It shares a processor with them, as a judge does. It prints one JSON object: medians in seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import time
from collections.abc import Callable

os.environ["OMP_NUM_THREADS"] = "1"

import torch

from grader.core.limits import Limits
from grader.core.messages import WorkerOptions
from grader.course.course import find_course, load_course
from grader.course.source import Source
from grader.course.stubs import without_markers
from grader.judge.remote.channel import SocketChannel
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.session import StudentSession
from grader.judge.remote.workers import ExitStatus, WorkerProcess, read_hello
from grader.runtime.fork_server import import_torch
from grader.runtime.forked_workers import end_worker, fork_worker
from grader.worker.sandbox import GUARANTEES, Prepared, hide, prepare
from grader.worker.sandbox.scratch import remove_scratch

CALLS_A_WORKER = 200


class Forks:
    """Confined workers, forked from this process."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared

    def start(self) -> WorkerProcess:
        """Fork a worker and return it when it has reported its guarantees."""
        forked = fork_worker(WorkerOptions(Limits(), "require"), self.prepared)
        channel = SocketChannel(forked.line, forked.output, output_bytes=1 << 14)
        worker = read_hello(channel, forked.pid)
        assert set(worker.guarantees) == set(GUARANTEES), worker.missing
        return worker

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        """End a worker."""
        worker.channel.close()
        end_worker(worker.pid, died=died)
        return None


def seconds(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def main() -> None:
    """Measure, and print the medians."""
    hide()  # as what starts a fork server does: workers inherit it
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=30)
    rounds = options.parse_args().rounds
    import_torch()
    prepared = prepare()
    lesson = load_course(find_course()).lesson("custom_sigmoid")
    source, scenarios = (
        Source(without_markers(lesson.solution.read_text("utf-8")), lesson.filename),
        lesson.scenarios.read_text("utf-8"),
    )
    x, v = torch.linspace(-2, 2, 3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    leaf = x.clone().requires_grad_()
    kept: dict[str, list[float]] = {"worker": [], "call": [], "call and product": []}
    with contextlib.ExitStack() as stack:
        stack.callback(remove_scratch, prepared.scratch)
        for number in range(rounds + 1):
            session = StudentSession(
                Forks(prepared), source=source, scenarios=scenarios, limits=Limits()
            )
            student = RemoteStudent(session)
            first = seconds(lambda: student.sigmoid(x))  # noqa: B023 - called at once
            calls = [seconds(lambda: student.sigmoid(x)) for _ in range(CALLS_A_WORKER)]  # noqa: B023
            both = [
                seconds(lambda: torch.autograd.grad(student.sigmoid(leaf), leaf, v))  # noqa: B023
                for _ in range(CALLS_A_WORKER)
            ]
            session.close()
            if number:
                kept["worker"].append(first)
                kept["call"].append(statistics.median(calls))
                kept["call and product"].append(statistics.median(both))
    print(json.dumps({name: statistics.median(times) for name, times in kept.items()}))


if __name__ == "__main__":
    main()
