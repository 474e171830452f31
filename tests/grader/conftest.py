"""Fixtures that the engine's tests share: one thread, workers forked from this process, a small
course.
"""

from __future__ import annotations

import functools
import os
import signal

# Before torch is imported: a fork of a process that ran two threads hangs.
os.environ["OMP_NUM_THREADS"] = "1"

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))  # what tests share and import lies beside this file

from browser import browser  # noqa: F401 - a fixture
from graded import course, grade_fragment, grade_mistake, grade_text  # noqa: F401 - fixtures
from in_process import Run, grade_here, lend
from plain_python import PlainPython

from grader.core.limits import Limits
from grader.core.messages import WorkerOptions
from grader.course.course import Course, load_course
from grader.course.source import Source
from grader.judge.remote.channel import SocketChannel
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.session import StudentSession
from grader.judge.remote.workers import ExitStatus, WorkerProcess, read_hello
from grader.runtime.client import ForkServerClient, default_mode
from grader.runtime.forked_workers import end_worker, worker_process
from grader.worker.sandbox import Prepared

torch.set_num_threads(1)
hypothesis.settings.register_profile("however slow", deadline=None)
hypothesis.settings.load_profile("however slow")
# A shell ignores SIGINT for what it starts in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = ["small_course", "savings_course"]  # courses of their own, which the tests grade
SMALL_COURSE = Path(__file__).parent / "small_course"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this system can't do."""
    missing: dict[str, str] = {}
    if sys.platform != "linux":
        missing["linux"] = "needs Linux: forks beside torch, its sandbox, or /proc"
    if sys.platform == "win32":
        missing["posix"] = "needs Unix: its terminals, links, modes or signals"
    for item in items:
        for name in missing.keys() & {marker.name for marker in item.iter_markers()}:
            item.add_marker(pytest.mark.skip(reason=missing[name]))


class ForkedWorkers:
    """Workers forked from the test process, as the fork server does."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    def start(self) -> WorkerProcess:
        line, far_line = socket.socketpair()
        output, far_output = os.pipe()
        options = WorkerOptions(self.limits, "off", ())
        pid = os.fork()
        if pid == 0:
            worker_process(far_line.fileno(), far_output, options, Prepared())
        far_line.close()
        os.close(far_output)
        return read_hello(SocketChannel(line, output, output_bytes=self.limits.output_bytes), pid)

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        worker.channel.settle()
        worker.channel.close()
        status = end_worker(worker.pid, died=died)
        return None if status is None else ExitStatus.of_code(os.waitstatus_to_exitcode(status))


@pytest.fixture
def remote() -> Iterator[Callable[..., RemoteStudent]]:
    """Return ``remote(source, scenarios="", **limits)``, which makes a student in a forked
    worker.
    """
    if default_mode() != "fork":
        pytest.skip("forks workers from this process, which is safe beside torch on Linux only")
    sessions = []

    def make(source: str, scenarios: str = "", **limits: float) -> RemoteStudent:
        bounds = Limits.from_dict(limits)
        session = StudentSession(
            ForkedWorkers(bounds),
            source=Source(source, "lesson.py"),
            scenarios=scenarios,
            limits=bounds,
        )
        sessions.append(session)
        return RemoteStudent(session)

    yield make
    for session in sessions:
        session.close()


@pytest.fixture(scope="session")
def small_course() -> Course:
    """Return a course of two tiny lessons, with a check for each possible outcome."""
    return load_course(SMALL_COURSE)


@pytest.fixture(scope="session")
def host() -> Iterator[ForkServerClient]:
    """Start a fork server for all tests."""
    with ForkServerClient() as running:
        yield running


@pytest.fixture(scope="module")
def lent_host(host: ForkServerClient) -> Iterator[None]:
    """Make commands in this process use the tests' fork server instead of starting one."""
    with pytest.MonkeyPatch.context() as patch:
        lend(host, patch)
        yield


@pytest.fixture(scope="session")
def grade(host: ForkServerClient) -> Callable[..., Run]:
    """Return ``grade(folder, *words, course=None)``, which runs the command in this process."""
    return functools.partial(grade_here, host)


@pytest.fixture(scope="session")
def plain_python() -> Iterator[PlainPython]:
    """Return a Python, without this package's help, in which torch is imported."""
    python = PlainPython()
    yield python
    python.close()
